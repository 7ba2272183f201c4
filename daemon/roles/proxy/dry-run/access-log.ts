// Reads requests out of access logs: the combined format of nginx and Apache, and JSON lines as several servers write them.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'

export type LoggedRequest = {
  readonly method: string
  /** As the request line had it: one character for each byte. */
  readonly target: string
  /** Address of the caller, as the log has it; '' where it has none. */
  readonly source: string
  /** Milliseconds since 1970; undefined where the line does not say. */
  readonly at: number | undefined
  /** What the logging server answered; undefined where the line does not say. */
  readonly status: number | undefined
}

const max_line_characters = 65_536

/** Parses one line of a log; undefined when it holds no request. */
export function parseLogLine(line: string): LoggedRequest | undefined {
  if (line.length > max_line_characters) return undefined
  const text = line.trim()
  return text.startsWith('{') ? parseJsonLine(text) : parseCombinedLine(text)
}

// host ident user [time] "request" status …; what is quoted may hold escaped quotes.
const combinedPattern = /^(\S+) \S+ [^[]*\[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}|-)/

function parseCombinedLine(line: string): LoggedRequest | undefined {
  const [, source = '', time = '', request = '', status = ''] = combinedPattern.exec(line) ?? []
  const parts = parseRequestLine(unescapeText(request))
  return (
    parts && {
      ...parts,
      source: source === '-' ? '' : source,
      at: parseCombinedTime(time),
      status: parseStatus(status),
    }
  )
}

/** `GET /x HTTP/1.1`; the target may hold spaces, which a proxy must refuse rather than miss. */
function parseRequestLine(line: string): { method: string; target: string } | undefined {
  const [, method, target] = /^([A-Za-z-]+) (.+?)(?: HTTP\/\d(?:\.\d)?)?$/s.exec(line) ?? []
  return method && target ? { method, target } : undefined
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' }

/** `\xHH` for a byte (nginx, Apache); Apache's `\"`, `\\` and letters besides. */
function unescapeText(text: string): string {
  return text.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, byte: string | undefined, letter: string) =>
    byte ? String.fromCharCode(Number.parseInt(byte, 16)) : (escapes[letter] ?? letter),
  )
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `10/Oct/2000:13:55:36 -0700`. */
function parseCombinedTime(text: string): number | undefined {
  const [, day, name = '', year, time, zone] =
    /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/.exec(text) ?? []
  const month = months.indexOf(name) + 1
  if (month === 0 || !zone) return undefined
  return parseDate(`${year}-${String(month).padStart(2, '0')}-${day}T${time}${zone.slice(0, 3)}:${zone.slice(3)}`)
}

// Names by which servers call the same thing: nginx and Apache by custom, Caddy, Traefik, Envoy.
const methodNames = ['method', 'request_method', 'RequestMethod', 'http_method', 'verb', 'request.method']
const targetNames = ['request_uri', 'uri', 'target', 'RequestPath', 'path', 'url', 'request.uri']
const sourceNames = [
  'remote_addr',
  'client_ip',
  'ClientHost',
  'remote_ip',
  'clientip',
  'request.client_ip',
  'request.remote_ip',
]
const statusNames = ['status', 'DownstreamStatus', 'response_code', 'status_code']
const timeNames = [
  'time_iso8601',
  'time',
  'timestamp',
  '@timestamp',
  'StartUTC',
  'start_time',
  'ts',
  'msec',
  'time_local',
]

function parseJsonLine(text: string): LoggedRequest | undefined {
  const line = parseJson(text)
  if (line === undefined) return undefined
  const whole = findField(line, ['request'])
  const method = findField(line, methodNames)
  const target = findField(line, targetNames)
  const parts =
    typeof method === 'string' && typeof target === 'string'
      ? { method, target: toByteString(target) }
      : typeof whole === 'string'
        ? parseRequestLine(toByteString(whole))
        : undefined
  if (!parts || !/^[A-Za-z-]+$/.test(parts.method) || parts.target === '') return undefined
  const source = findField(line, sourceNames)
  return {
    ...parts,
    source: typeof source === 'string' ? source : '',
    at: parseMoment(findField(line, timeNames)),
    status: parseStatus(findField(line, statusNames)),
  }
}

/** JSON has characters where the request line had bytes of UTF-8. */
function toByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function findField(line: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    let value = line
    for (const part of name.split('.')) value = isRecord(value) ? value[part] : undefined
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A date as text, or seconds since 1970, with a fraction or not. */
function parseMoment(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value * 1_000
  if (typeof value !== 'string') return undefined
  return /^\d{9,10}(\.\d+)?$/.test(value) ? Number(value) * 1_000 : (parseCombinedTime(value) ?? parseDate(value))
}

function parseDate(text: string): number | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

function parseStatus(value: unknown): number | undefined {
  const number = Number(value)
  return Number.isInteger(number) && number >= 100 && number <= 599 ? number : undefined
}
