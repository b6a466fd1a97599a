import java.io.IOException;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.SparkSession; // before 4.0
import org.apache.spark.sql.classic.SparkSession; // since 4.0
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;

/** What a translation asks a session before it makes the text, in one call. See questions.py. */
public final class TableFacts {
    private static final String END = "\0";
    private static final int MOST_FILES = 64;

    /**
     * The values of settings, then of each table the schema as JSON and its files. An answer that isn't there is empty;
     * the others begin with an equals sign.
     *
     * @param keys the settings, each with a NUL behind it
     * @param tables the tables: each as SQL names it, and if that is a single name, in lower case behind it
     */
    public Object answers(SparkSession session, String keys, String tables) throws IOException {
        StringBuilder out = new StringBuilder();
        String[] settings = keys.isEmpty() ? new String[0] : keys.split(END);
        for (int number = 0; number < settings.length; number++) {
            String value = setting(session, settings[number]);
            if (value != null) out.append('=').append(value);
            out.append(END);
        }
        boolean views = viewsFirst(session);
        String[] names = tables.isEmpty() ? new String[0] : tables.split(END, -1);
        for (int number = 0; number + 1 < names.length; number += 2) {
            LogicalPlan view = views && !names[number + 1].isEmpty() ? view(session, names[number + 1]) : null;
            String schema = view == null ? ofTable(session, names[number]) : view.schema().json();
            if (schema != null) out.append('=').append(schema);
            out.append(END);
            if (view != null) files(view, out);
            out.append(END);
        }
        return Packed.of(out.toString());
    }

    private static String setting(SparkSession session, String key) {
        try {
            return session.conf().get(key);
        } catch (Exception unknown) {
            return null;
        }
    }

    /** Whether a bare name is a temporary view's, if there is one. Their names are kept in lower case then. */
    private static boolean viewsFirst(SparkSession session) {
        String order = setting(session, "spark.sql.functionResolution.sessionOrder");
        return "false".equals(setting(session, "spark.sql.caseSensitive"))
            && "false".equals(setting(session, "spark.sql.path.enabled"))
            && ("first".equals(order) || "second".equals(order));
    }

    /** The plan of a temporary view that was made of a DataFrame: Spark keeps it, analysed. Else null. */
    private static LogicalPlan view(SparkSession session, String name) {
        SessionCatalog catalog = session.sessionState().catalog();
        scala.Option view = catalog.getRawTempView(name);
        if (!view.isDefined()) return null;
        scala.Option plan = ((TemporaryViewRelation) view.get()).plan();
        return plan.isDefined() ? (LogicalPlan) plan.get() : null;
    }

    /** The Parquet files that are all that a plan reads, if they are few: URIs, each with a line's end behind it. */
    private static void files(LogicalPlan plan, StringBuilder out) {
        Object relation = plan instanceof LogicalRelation ? ((LogicalRelation) plan).relation() : null;
        if (!(relation instanceof HadoopFsRelation)) return;
        HadoopFsRelation found = (HadoopFsRelation) relation;
        if (found.partitionSchema().length() > 0) return; // values that aren't in the files
        String[] files = found.fileFormat() instanceof ParquetFileFormat ? found.location().inputFiles() : new String[0];
        if (files.length == 0 || files.length > MOST_FILES) return;
        out.append('=');
        for (int number = 0; number < files.length; number++) out.append(files[number]).append('\n');
    }

    /** The schema of any table. Null where it can't be read: who asks for it alone is told why. */
    private static String ofTable(SparkSession session, String path) {
        try {
            return session.table(path).schema().json();
        } catch (Exception error) {
            return null;
        }
    }
}
