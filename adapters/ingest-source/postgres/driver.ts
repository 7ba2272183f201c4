// The client of PostgreSQL: a script of its own in the executable, which only threads that read by it load.
import { Client } from 'pg'

export const postgresDriver = { Client }
export type PostgresDriver = typeof postgresDriver
