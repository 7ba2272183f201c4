// The client of Redis and Valkey: a script of its own in the executable, which only threads that read by it load.
import { createClient, RESP_TYPES } from '@redis/client'

export const redisDriver = { createClient, blob: RESP_TYPES.BLOB_STRING }
export type RedisDriver = typeof redisDriver
