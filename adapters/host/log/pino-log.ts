// The log of a process: JSON lines by pino, with secrets taken out before a line is made.
import { type DestinationStream, destination, pino } from 'pino'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { redactFields, redactText } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type PinoLogOptions = {
  readonly level: LogLevel
  /** 2 for a daemon whose standard output may carry data; or a stream, for a test. */
  readonly to: 'stderr' | 'stdout' | DestinationStream
  /** On every line. */
  readonly base: { readonly site: string; readonly role: string }
}

/**
 * Lines are `{time, level, site, role, event, ...fields}`, time in ISO 8601. Written in the call itself: successes are
 * not logged, so lines are few, and the last one before a crash is the one that matters. No worker threads, so that
 * it runs inside the one executable.
 */
export function pinoLog({ level, to, base }: PinoLogOptions): Log {
  const stream = typeof to === 'string' ? destination({ dest: to === 'stderr' ? 2 : 1, sync: true }) : to
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
