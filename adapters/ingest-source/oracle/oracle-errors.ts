// Faults of Oracle in the words of every source: messages of servers may have names, addresses and values.
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

export function describeOracleError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string') return notOracle()
  const [, number] = /^ORA-(\d{5})$/.exec(code) ?? []
  if (number !== undefined) return describeNumber(Number(number))
  if (lost_codes.has(code)) return describeConnectionFailure('ECONNRESET')
  if (code === 'NJS-510') return describeConnectionFailure('ETIMEDOUT')
  if (code === 'NJS-511') return new RowSourceError('the listener of the server refuses the connection', false)
  if (code === 'NJS-518') return new RowSourceError('the server has no such service')
  if (code === 'NJS-138')
    return new RowSourceError('the server has another version than those that are read: Oracle Database from 12.1 on')
  if (code === 'NJS-116')
    return new RowSourceError(
      'the server has only a proof of the secret that is not read, of Oracle Database 10 or before',
    )
  if (code.startsWith('NJS-') || code === 'ERR_OUT_OF_RANGE' || code === 'ERR_BUFFER_OUT_OF_BOUNDS') return notOracle()
  return describeConnectionFailure(code)
}

/** Of the library: closed, lost, without an end. */
const lost_codes: ReadonlySet<string> = new Set(['NJS-500', 'NJS-501', 'NJS-503', 'NJS-521', 'NJS-003'])

export function notOracle(): RowSourceError {
  return new RowSourceError('the server does not answer as a server of Oracle does')
}

function describeNumber(number: number): RowSourceError {
  const known = refusals[number]
  if (known) return new RowSourceError(known[0], known[1])
  return new RowSourceError(`the server could not do it (error ORA-${String(number).padStart(5, '0')})`)
}

const no_right = 'the user of the connection may not read the table'
const busy = 'the server is not ready to answer'

const refusals: Readonly<Record<number, readonly [message: string, isFinal: boolean]>> = {
  18: ['the server has too many connections', false],
  20: ['the server has too many connections', false],
  54: ['someone changes the table', false],
  942: [no_right, true],
  1005: [refused_user, true],
  1017: [refused_user, true],
  1031: [no_right, true],
  1033: [busy, false],
  1034: [busy, false],
  1045: [refused_user, true],
  1555: ['the server has no longer what the rows were when the reading began: raise undo_retention there', false],
  12514: ['the server has no such service', true],
  28000: [refused_user, true],
  28001: [refused_user, true],
}
