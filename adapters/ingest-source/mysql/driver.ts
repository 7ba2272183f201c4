// The client of MySQL and MariaDB: a script of its own in the executable, which only threads that read by it load.
import { authPlugins, createConnection } from 'mysql2'

export const mysqlDriver = { authPlugins, createConnection }
export type MysqlDriver = typeof mysqlDriver
