// Faults of MySQL and MariaDB in the words of every source: messages of servers may have names, addresses and values.
import {
  describeConnectionFailure,
  no_tls,
  open_secret,
  refused_user,
} from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

export function notMysql(): RowSourceError {
  return new RowSourceError('the server does not answer as a server of MySQL does')
}

export function describeMysqlError(error: unknown): RowSourceError {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return new RowSourceError(no_tls)
  if (code === 'OPEN_SECRET' || code === 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED') return new RowSourceError(open_secret)
  if (code === 'AUTH_SWITCH_PLUGIN_ERROR')
    return new RowSourceError(String(message).includes('a key of the server') ? open_secret : refused_user)
  const known = typeof errno === 'number' ? refusals[errno] : undefined
  if (known) return new RowSourceError(known[0], known[1])
  // Numbers of servers are positive, those of sockets are not.
  if (typeof errno === 'number' && errno > 0) return new RowSourceError(`the server could not do it (error ${errno})`)
  return describeConnectionFailure(typeof code === 'string' ? code : undefined)
}

const no_right = 'the user of the connection may not read the table'
const slow = 'the server ended the statement at its time limit'

const refusals: Readonly<Record<number, readonly [message: string, isFinal: boolean]>> = {
  1040: ['the server has too many connections', false],
  1044: [refused_user, true],
  1045: [refused_user, true],
  1049: ['the server has no such database', true],
  1142: [no_right, true],
  1143: [no_right, true],
  1205: ['someone changes the table', false],
  1317: [slow, false],
  1698: [refused_user, true],
  1969: [slow, false],
  3024: [slow, false],
}
