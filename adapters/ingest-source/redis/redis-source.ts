// Hashes and strings of Redis or Valkey whose keys have a pattern: each key once, with its value at the moment at which it is read.
import { isUtf8 } from 'node:buffer'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { describeJsonRow } from '../../../daemon/shared/row-source/json-row.ts'
import {
  max_row_characters,
  max_source_columns,
  max_value_bytes,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import type { RedisDriver } from './driver.ts'
import { KeySpool } from './key-spool.ts'
import { describeRedisError, type RedisAccess, type RedisAnswer, RedisSession } from './redis-session.ts'

/** Keys whose kinds are requested at once. */
const block_keys = 128
/** Values that are requested at once, by the memory that they take at the server. */
const block_bytes = 4_194_304
const max_scan_answer = 100_000
const key_column = '_key'
const value_column = 'value'

/** `json`: a string is an object of JSON, whose fields are columns. */
export type RedisValues = 'text' | 'json'

/** `scratch`: a new folder, which closing the source removes. */
export function redisSource(access: RedisAccess, driver: RedisDriver, values: RedisValues, scratch: string): RowSource {
  const session = new RedisSession(access, driver)
  let spool: KeySpool | undefined
  return {
    async probe(signal) {
      const [count] = await session.request([['DBSIZE']], signal)
      if (count instanceof Error) throw describeRedisError(count)
      return `a database of ${Number(count)} keys`
    },
    async *rows(request, signal) {
      if (request.cursor) throw new RowSourceError('keys of Redis have no order: a task reads all of them')
      spool?.close()
      spool = new KeySpool(scratch)
      await scanKeys(session, request.table, spool, signal)
      for (const keys of spool.blocks(block_keys)) yield* readKeys(session, keys, request, values, signal)
    },
    async close() {
      session.close()
      spool?.close()
    },
  }
}

/** A scan gives each key that is there from its beginning to its end, and may give one more often. */
async function scanKeys(session: RedisSession, pattern: string, spool: KeySpool, signal: AbortSignal): Promise<void> {
  let cursor = '0'
  do {
    const [answer] = await session.request([['SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000']], signal)
    if (answer instanceof Error) throw describeRedisError(answer)
    const [next, keys] = Array.isArray(answer) ? answer : []
    if (
      !Buffer.isBuffer(next) ||
      !/^\d{1,20}$/.test(next.toString()) ||
      !Array.isArray(keys) ||
      keys.length > max_scan_answer
    )
      throw notRedis()
    for (const key of keys) spool.add(requireBytes(key))
    cursor = next.toString()
  } while (cursor !== '0')
}

/** Rows of the keys that are still there, in blocks by the memory of their values. */
async function* readKeys(
  session: RedisSession,
  keys: readonly Buffer[],
  request: RowRequest,
  values: RedisValues,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const looked = keys.flatMap((key) => [['TYPE', key] as const, ['MEMORY', 'USAGE', key, 'SAMPLES', '0'] as const])
  const known = await session.request(looked, signal)
  let group: (readonly [key: Buffer, kind: string])[] = []
  let group_bytes = 0
  for (const [at, key] of keys.entries()) {
    const kind = readKind(known[2 * at], key)
    const bytes = readMemory(known[2 * at + 1])
    // Removed since the scan.
    if (kind === 'none' || bytes === undefined) continue
    if (bytes > 2 * max_row_characters)
      throw new RowSourceError(`the value of the key ${nameKey(key)} takes more than ${2 * max_row_characters} bytes`)
    if (group.length > 0 && group_bytes + bytes > block_bytes) {
      yield await readGroup(session, group, request, values, signal)
      group = []
      group_bytes = 0
    }
    group.push([key, kind])
    group_bytes += bytes
  }
  if (group.length > 0) yield await readGroup(session, group, request, values, signal)
}

async function readGroup(
  session: RedisSession,
  group: readonly (readonly [key: Buffer, kind: string])[],
  request: RowRequest,
  values: RedisValues,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const commands = group.map(([key, kind]) => [kind === 'hash' ? 'HGETALL' : 'GET', key] as const)
  const answers = await session.request(commands, signal)
  return group.flatMap(([key, kind], at) => {
    const answer = answers[at]
    if (answer instanceof Error) throw describeCommandError(answer, key)
    if (kind === 'hash') return describeHash(key, answer, request)
    return answer === null || answer === undefined ? [] : [describeString(key, requireBytes(answer), request, values)]
  })
}

function describeCommandError(error: Error, key: Buffer): RowSourceError {
  if (error.message.startsWith('WRONGTYPE'))
    return new RowSourceError(`the key ${nameKey(key)} got a value of another kind while it was read`, false)
  return describeRedisError(error)
}

function readKind(answer: RedisAnswer | undefined, key: Buffer): string {
  if (answer instanceof Error) throw describeRedisError(answer)
  const kind = Buffer.isBuffer(answer) || typeof answer === 'string' ? String(answer) : ''
  if (kind === 'hash' || kind === 'string' || kind === 'none') return kind
  throw new RowSourceError(
    `the key ${nameKey(key)} has a value of the kind ${nameSome([kind])}: name a pattern of hashes and strings`,
  )
}

function readMemory(answer: RedisAnswer | undefined): number | undefined {
  if (answer instanceof Error) throw describeRedisError(answer)
  return typeof answer === 'number' ? answer : undefined
}

/** A hash without fields is not there any more. */
function describeHash(key: Buffer, answer: RedisAnswer | undefined, { columns }: RowRequest): string[] {
  if (!Array.isArray(answer) || answer.length % 2 !== 0) throw notRedis()
  if (answer.length === 0) return []
  if (answer.length / 2 > max_source_columns)
    throw new RowSourceError(`the hash ${nameKey(key)} has more than ${max_source_columns} fields`)
  const fields = new Map([[key_column, JSON.stringify(textOf(key))]])
  for (let at = 0; at < answer.length; at += 2) {
    const name = textOf(requireBytes(answer[at]))
    if (fields.has(name)) throw new RowSourceError(`the hash ${nameKey(key)} has the field ${nameSome([name])} twice`)
    if (!columns || columns.includes(name)) fields.set(name, describeValue(key, requireBytes(answer[at + 1])))
  }
  return [describeJsonRow([...fields.keys()], [...fields.values()])]
}

/** What is not an object of JSON is a line that is none, which is rejected as such. */
function describeString(key: Buffer, value: Buffer, { columns }: RowRequest, values: RedisValues): string {
  const text = describeValue(key, value)
  const named = JSON.stringify(textOf(key))
  if (values === 'text') return describeJsonRow([key_column, value_column], [named, text])
  const record = parseJson(value)
  if (typeof record !== 'object' || record === null || Array.isArray(record) || key_column in record) return text
  if (columns) {
    const chosen = Object.entries(record).filter(([name]) => columns.includes(name))
    return describeJsonRow(
      [key_column, ...chosen.map(([name]) => name)],
      [named, ...chosen.map(([, each]) => JSON.stringify(each))],
    )
  }
  // As it is written, with all digits of its numbers; JSON has line breaks between its values alone.
  const body = value
    .toString()
    .replaceAll(/[\r\n]/g, ' ')
    .trim()
    .slice(1)
  return `{${JSON.stringify(key_column)}:${named}${Object.keys(record).length > 0 ? ',' : ''}${body}`
}

function describeValue(key: Buffer, value: Buffer): string {
  if (value.length > max_value_bytes)
    throw new RowSourceError(`the key ${nameKey(key)} has a value of more than ${max_value_bytes} bytes`)
  return JSON.stringify(textOf(value))
}

/** Bytes that are not text are base64. */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('base64')
}

const nameKey = (key: Buffer) => nameSome([textOf(key)])

function requireBytes(answer: RedisAnswer | undefined): Buffer {
  if (!Buffer.isBuffer(answer)) throw notRedis()
  return answer
}

function notRedis(): RowSourceError {
  return new RowSourceError('the server does not answer as a Redis does')
}
