// The log of a process: JSON lines by pino, with secrets taken out before a line is made.
import { type DestinationStream, destination, pino } from 'pino'
import { redactText } from '../../../daemon/kernel/secret/redact-text.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { redactFields } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type PinoLogOptions = {
  readonly level: LogLevel
  /** 2 for a daemon whose standard output may carry data; or a stream, for a test. */
  readonly to: 'stderr' | 'stdout' | DestinationStream
  /** On every line. */
  readonly base: { readonly site: string; readonly role: string }
  /** Lines are written many at a time: for a line of each request. A killed process loses those of the last `block_ms`. */
  readonly inBlocks?: boolean
}

const block_characters = 32_768
const block_ms = 200

/**
 * Lines are `{time, level, site, role, event, ...fields}`, time in ISO 8601. Written in the call itself, unless in blocks:
 * successes are not logged, so lines are few, and the last one before a crash is the one that matters. No worker threads, so
 * that it runs inside the one executable.
 */
export function pinoLog({ level, to, base, inBlocks = false }: PinoLogOptions): Log {
  const stream = typeof to === 'string' ? openDestination(to === 'stderr' ? 2 : 1, inBlocks) : to
  const lines = pino(
    {
      level,
      base,
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  )
  const writer = (at: LogLevel) => (event: string, fields?: Readonly<Record<string, unknown>>) => {
    if (!lines.isLevelEnabled(at)) return
    if (fields === undefined) lines[at](redactText(event))
    else lines[at](renameReservedFields(redactFields(fields)), redactText(event))
  }
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

function openDestination(dest: 1 | 2, inBlocks: boolean): DestinationStream {
  const stream = destination({ dest, sync: true })
  if (!inBlocks) return stream
  let block = ''
  let isDue = false
  const flush = () => {
    if (block !== '') stream.write(block)
    block = ''
  }
  const flushInTime = () => {
    isDue = false
    flush()
  }
  process.on('exit', flush)
  return {
    write(line) {
      block += line
      if (block.length >= block_characters) flush()
      else if (!isDue) {
        isDue = true
        setTimeout(flushInTime, block_ms).unref()
      }
    },
  }
}

const reservedNames = ['time', 'level', 'site', 'role', 'event']

/** A field with a name of the line itself would make two members of one name, of which a reader keeps either. */
function renameReservedFields(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name of reservedNames) {
    if (!(name in fields)) continue
    fields[`field_${name}`] = fields[name]
    delete fields[name]
  }
  return fields
}
