import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.Dataset; // before 4.0
import org.apache.spark.sql.SparkSession; // before 4.0
import org.apache.spark.sql.classic.Dataset; // since 4.0
import org.apache.spark.sql.classic.SparkSession; // since 4.0
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq; // before 4.0
import scala.collection.immutable.Seq; // since 4.0

/** Files that are checked whenever a scan of them is planned, in the driver. See guarded_scans.py. */
public final class GuardedScans {
    /**
     * The DataFrame over the same files, each of which must be below one of the roots when a scan is planned. Null where
     * the DataFrame isn't a scan of files, and nothing else.
     *
     * @param roots files and folders without links, each with a NUL behind it
     */
    public Object frame(Dataset frame, String roots) {
        LogicalPlan plan = frame.queryExecution().analyzed();
        Object relation = plan instanceof LogicalRelation ? ((LogicalRelation) plan).relation() : null;
        if (!(relation instanceof HadoopFsRelation)) return null;
        HadoopFsRelation found = (HadoopFsRelation) relation;
        FileIndex index = new CheckedFileIndex(found.location(), roots);
        SparkSession session = (SparkSession) frame.sparkSession();
        return session.baseRelationToDataFrame(new HadoopFsRelation(index, found.partitionSchema(), found.dataSchema(),
            found.bucketSpec(), found.fileFormat(), found.options(), found.sparkSession()));
    }

    /** An index of files that looks where they lead to before it names them. */
    public static final class CheckedFileIndex implements FileIndex {
        private final FileIndex files;
        private final String allowed;
        private final Path[] roots;

        CheckedFileIndex(FileIndex files, String allowed) {
            this.files = files;
            this.allowed = allowed;
            String[] texts = allowed.isEmpty() ? new String[0] : allowed.split("\0");
            this.roots = new Path[texts.length];
            for (int number = 0; number < texts.length; number++) roots[number] = Paths.get(texts[number], new String[0]);
        }

        public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
            Seq found = files.listFiles(partitionFilters, dataFilters);
            Map folders = new HashMap();
            for (int number = 0; number < found.size(); number++) {
                Seq inside = ((PartitionDirectory) found.apply(number)).files();
                scala.collection.Iterator each = inside.iterator();
                while (each.hasNext()) check(((FileStatusWithMetadata) each.next()).getPath().toUri(), folders);
            }
            return found;
        }

        private void check(java.net.URI uri, Map folders) {
            if (uri.getScheme() != null && !uri.getScheme().equals("file")) return;
            Path file = Paths.get(uri.getPath(), new String[0]);
            Path folder = file.getParent();
            Boolean good = (Boolean) folders.get(folder);
            if (good == null) {
                good = Boolean.valueOf(isAllowed(folder));
                folders.put(folder, good);
            }
            if (good.booleanValue() && !Files.isSymbolicLink(file)) return;
            if (!isAllowed(file)) {
                throw new IllegalArgumentException(
                    "the plan reads " + file + ", which is not among the allowed paths any more: it leads elsewhere now");
            }
        }

        /** Whether a path leads below a root. Of what isn't there, Spark says so itself. */
        private boolean isAllowed(Path path) {
            Path real;
            try {
                real = path.toRealPath(new LinkOption[0]);
            } catch (NoSuchFileException error) {
                return true;
            } catch (IOException error) {
                return false;
            }
            for (int number = 0; number < roots.length; number++) if (real.startsWith(roots[number])) return true;
            return false;
        }

        public Seq rootPaths() {
            return files.rootPaths();
        }

        public String[] inputFiles() {
            return files.inputFiles();
        }

        public void refresh() {
            files.refresh();
        }

        public long sizeInBytes() {
            return files.sizeInBytes();
        }

        public StructType partitionSchema() {
            return files.partitionSchema();
        }

        public boolean isTimeTravel() { return files.isTimeTravel(); } // since 4.1

        public scala.Option metadataOpsTimeNs() {
            return files.metadataOpsTimeNs();
        }

        public String toString() {
            return files.toString();
        }

        public boolean equals(Object other) {
            return other instanceof CheckedFileIndex && ((CheckedFileIndex) other).files.equals(files) && ((CheckedFileIndex) other).allowed.equals(allowed);
        }

        public int hashCode() {
            return files.hashCode();
        }
    }
}
