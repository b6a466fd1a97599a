import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Queries, changes and metadata by the Flight SQL JDBC driver. Arguments: the port, a user, a password, and a catalog to connect to. */
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
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO by_jdbc VALUES (?)")) {
                insert.setInt(1, 39);
                System.out.println(insert.executeUpdate());
            }
            try (ResultSet rows = statement.executeQuery("SELECT sum(a) FROM by_jdbc")) {
                while (rows.next()) System.out.println(rows.getLong(1));
            }
            System.out.println(statement.executeUpdate("DROP TABLE by_jdbc"));
            try (ResultSet rows = connection.getMetaData().getColumns(null, null, "nation", "n_name")) {
                while (rows.next()) System.out.println(rows.getString("TABLE_SCHEM") + " " + rows.getString("TYPE_NAME"));
            }
            String prepared = "SELECT n_name FROM nation WHERE n_nationkey > ? AND n_name LIKE ? AND DATE'2020-01-02' > ? ORDER BY 1 LIMIT ?";
            try (PreparedStatement query = connection.prepareStatement(prepared)) {
                for (long key : new long[] {3, 10}) {
                    query.setLong(1, key);
                    query.setString(2, "%I%");
                    query.setDate(3, Date.valueOf("2020-01-01"));
                    query.setInt(4, 2);
                    try (ResultSet rows = query.executeQuery()) {
                        while (rows.next()) System.out.println(rows.getString(1));
                    }
                }
            }
            try {
                statement.executeQuery("SELECT * FROM missing");
            } catch (SQLException error) {
                System.out.println(error.getMessage().contains("`missing` cannot be found"));
            }
        }
        if (arguments.length == 3) return;
        String placed = url + "&catalog=" + arguments[3];
        // not closed: the driver ends the session of a connection with a catalog after the channel, and fails
        Connection connection = DriverManager.getConnection(placed, arguments[1], arguments[2]);
        try (ResultSet rows = connection.createStatement().executeQuery("SELECT current_catalog()")) {
            while (rows.next()) System.out.println(rows.getString(1));
        }
        System.exit(0);
    }
}
