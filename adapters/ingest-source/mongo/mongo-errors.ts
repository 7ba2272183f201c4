// Faults of MongoDB in the words of every source: messages of servers may have names, addresses and values.
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

export function describeMongoError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown }
  if (name === 'MongoServerError' && typeof code === 'number') {
    const known = refusals[code]
    if (known) return new RowSourceError(known[0], known[1])
    return new RowSourceError(`the server could not do it (error ${code})`, !passing.has(code))
  }
  if (typeof code === 'string') return describeConnectionFailure(code)
  if (name === 'MongoCompatibilityError')
    return new RowSourceError('the server is older or newer than those that are read: MongoDB from 4.2 on')
  // The proof of the server does not fit the secret, or the text of a user or secret is not one that servers know.
  if (name === 'MongoRuntimeError' || name === 'MongoInvalidArgumentError' || name === 'MongoMissingCredentialsError')
    return new RowSourceError(refused_user)
  if (cause !== undefined && cause !== null) return describeMongoError(cause)
  return new RowSourceError('the connection to the server is lost', false)
}

/** Of servers that start, stop, elect another primary, or have too much to do. */
const passing: ReadonlySet<number> = new Set([
  ...[6, 7, 24, 46, 50, 63, 89, 91, 112, 133, 134, 150, 175, 189, 202, 234, 237, 262, 290, 317, 358, 365, 391, 402],
  ...[9_001, 10_107, 11_600, 11_602, 13_388, 13_435, 13_436],
])

const refusals: Readonly<Record<number, readonly [message: string, isFinal: boolean]>> = {
  13: ['the user of the connection may not read the collection', true],
  18: [refused_user, true],
  43: ['the server ended the reading, as it does after ten minutes without a request', false],
  239: [
    'the reading took longer than the server keeps one moment: raise minSnapshotHistoryWindowInSeconds there, or read less',
    true,
  ],
  246: ['the server cannot read the collection as it is at one moment', false],
}
