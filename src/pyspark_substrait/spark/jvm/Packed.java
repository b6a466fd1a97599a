import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Texts in a form that py4j brings over at once. See __init__.py. */
public final class Packed {
    /** Answers of py4j that are longer, in base 64, than its buffer of 8 KB wait for an acknowledgement. */
    private static final int PART = 5900;

    /** A text: as it is, or where it is long, compressed, and where that is long, a list of parts. */
    public static Object of(String text) throws IOException {
        if (text.length() <= PART / 3) return text;
        ByteArrayOutputStream into = new ByteArrayOutputStream();
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try {
            DeflaterOutputStream stream = new DeflaterOutputStream(into, deflater);
            stream.write(text.getBytes(StandardCharsets.UTF_8));
            stream.close();
        } finally {
            deflater.end();
        }
        byte[] whole = into.toByteArray();
        if (whole.length <= PART) return whole;
        ArrayList parts = new ArrayList();
        for (int start = 0; start < whole.length; start += PART) {
            parts.add(Arrays.copyOfRange(whole, start, Math.min(start + PART, whole.length)));
        }
        return parts;
    }
}
