// Faults of a broker in words of this project: those of the server may have names, addresses or more.
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

const no_answer = 'no answer'

/** A request to the broker that took too long. */
export function noAnswer(): Error {
  return Object.assign(new Error(no_answer), { code: 'ETIMEDOUT' })
}

/** Also where a queue takes no offset, as a stream does. */
export class RefusedConsumer extends RowSourceError {}

const faults: Readonly<Record<number, RowSourceError>> = {
  403: new RowSourceError('the user of the connection may not read the queue, or another consumer has it', false),
  404: new RowSourceError('the broker has no such queue'),
  405: new RowSourceError('the queue belongs to another connection alone', false),
  406: new RefusedConsumer('the broker refused the consumer, or took its messages back after its time limit', false),
  320: new RowSourceError('an operator of the broker closed the connection', false),
  530: new RowSourceError(
    'the user of the connection may not use the virtual host, or the broker has none of this name',
  ),
}

export function describeRabbitmqError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  const { code, message = '' } = error as { code?: unknown; message?: string }
  const text = String(message)
  // The library has no code for what ends its handshake.
  if (/^Handshake terminated by server: 403/.test(text)) return new RowSourceError(refused_user)
  // Nor for a virtual host that is refused.
  if (/^Expected ConnectionOpenOk; got <ConnectionClose/.test(text)) return describeRabbitmqError({ code: 530 })
  const reply = typeof code === 'number' ? code : Number(/: (\d{3}) \(/.exec(text)?.[1])
  const known = faults[reply]
  if (known) return known
  if (/ETIMEDOUT/.test(text)) return describeConnectionFailure('ETIMEDOUT')
  if (typeof code === 'string') return describeConnectionFailure(code)
  return new RowSourceError('the connection to the broker is lost', false)
}
