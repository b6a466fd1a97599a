import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Queries, changes and metadata by the Flight SQL JDBC driver. Arguments: the port, a user, a password. */
public class Jdbc {
    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:arrow-flight-sql://127.0.0.1:" + arguments[0] + "?useEncryption=false";
        try (Connection connection = DriverManager.getConnection(url, arguments[1], arguments[2]);
                Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery("SELECT n_nationkey, n_name FROM nation ORDER BY n_nationkey")) {
                while (rows.next()) System.out.println(rows.getLong(1) + " " + rows.getString(2));
            }
            System.out.println(statement.executeUpdate("CREATE TABLE by_jdbc (a INT) USING parquet"));
            System.out.println(statement.executeUpdate("INSERT INTO by_jdbc VALUES (1), (2)"));
            try (ResultSet rows = statement.executeQuery("SELECT sum(a) FROM by_jdbc")) {
                while (rows.next()) System.out.println(rows.getLong(1));
            }
            System.out.println(statement.executeUpdate("DROP TABLE by_jdbc"));
            try (ResultSet rows = connection.getMetaData().getColumns(null, null, "nation", "n_name")) {
                while (rows.next()) System.out.println(rows.getString("TABLE_SCHEM") + " " + rows.getString("TYPE_NAME"));
            }
            try {
                statement.executeQuery("SELECT * FROM missing");
            } catch (SQLException error) {
                System.out.println(error.getMessage().contains("`missing` cannot be found"));
            }
        }
    }
}
