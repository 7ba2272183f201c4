// The client of SQL Server: a script of its own in the executable, which only threads that read by it load.
import { Connection, Request } from 'tedious'

export const mssqlDriver = { Connection, Request }
export type MssqlDriver = typeof mssqlDriver
