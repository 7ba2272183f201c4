// Faults of SQL Server in the words of every source: messages of servers may have names, addresses and values.
import {
  describeConnectionFailure,
  no_tls,
  refused_user,
} from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

/** `login_number`: of the first error of the server, which the error of a login lacks. */
export function describeMssqlError(error: unknown, login_number: number | undefined): RowSourceError {
  if (error instanceof RowSourceError) return error
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const { code, number, message, cause } = first as FaultOfLibrary
  if (typeof number === 'number') return describeNumber(number)
  if (code === 'ELOGIN')
    return login_number === undefined ? new RowSourceError(refused_user) : describeNumber(login_number)
  if (code === 'EENCRYPT') return new RowSourceError(String(message).includes('requires') ? needs_tls : no_tls)
  if (code === 'ETIMEOUT') return describeConnectionFailure('ETIMEDOUT')
  if (code === 'ECLOSE' || code === 'EINVALIDSTATE') return describeConnectionFailure('ECONNRESET')
  const { code: reason } = code === 'ESOCKET' ? ((cause ?? {}) as FaultOfLibrary) : { code }
  // An error of the parser has no code, or that of a read beyond the end.
  if (typeof reason !== 'string' || reason === 'ERR_OUT_OF_RANGE' || reason === 'ERR_BUFFER_OUT_OF_BOUNDS')
    return notMssql()
  return describeConnectionFailure(reason)
}

type FaultOfLibrary = {
  readonly code?: unknown
  readonly number?: unknown
  readonly message?: unknown
  readonly cause?: unknown
}

export function notMssql(): RowSourceError {
  return new RowSourceError('the server does not answer as a server of SQL Server does')
}

function describeNumber(number: number): RowSourceError {
  const known = refusals[number]
  return known
    ? new RowSourceError(known[0], known[1])
    : new RowSourceError(`the server could not do it (error ${number})`)
}

const needs_tls = 'the server takes no session without TLS: set tls of the connection to verify'
const no_right = 'the user of the connection may not read the table'
const no_database = 'the server has no such database, or the user may not open it'
const locked = 'someone changes the table'
const busy = 'the server is not ready to answer'
const moved = 'the snapshot of the database ended during the reading'

const refusals: Readonly<Record<number, readonly [message: string, isFinal: boolean]>> = {
  229: [no_right, true],
  230: [no_right, true],
  916: [no_database, true],
  1205: [locked, false],
  1222: [locked, false],
  3960: [moved, false],
  3961: [moved, false],
  4060: [no_database, true],
  10928: [busy, false],
  10929: [busy, false],
  17142: [busy, false],
  17809: ['the server has too many connections', false],
  18401: [busy, false],
  18452: [refused_user, true],
  18456: [refused_user, true],
  18461: ['the server has too many connections', false],
  18470: [refused_user, true],
  18486: [refused_user, true],
  18487: [refused_user, true],
  18488: [refused_user, true],
  40197: [busy, false],
  40501: [busy, false],
  40613: [busy, false],
}
