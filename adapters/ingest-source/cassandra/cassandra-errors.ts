// Faults of Cassandra in the words of every source: messages of servers may have names, addresses and values.
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

export function describeCassandraError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  const { code } = error as { code?: unknown }
  return describeConnectionFailure(typeof code === 'string' ? code : undefined)
}

/** `code`: of the protocol. */
export function describeServerError(code: number): RowSourceError {
  const known = refusals[code]
  if (known) return new RowSourceError(known[0], known[1])
  return new RowSourceError(`the server could not do it (error 0x${(code >>> 0).toString(16).padStart(4, '0')})`)
}

const busy = 'the server is not ready to answer'
const missing = 'too few replicas answered in time'

const refusals: Readonly<Record<number, readonly [message: string, isFinal: boolean]>> = {
  0: ['the server could not do it (error 0x0000)', false],
  10: ['the server has another version of the protocol than those that are read: Cassandra from 3.11 on', true],
  256: [refused_user, true],
  4096: [missing, false],
  4097: [busy, false],
  4098: [busy, false],
  4608: [missing, false],
  4864: ['a replica could not read its rows, such as for too many deleted ones', false],
  8448: ['the user of the connection may not read the table', true],
}
