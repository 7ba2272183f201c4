// Skips messages of a broker above the size limit before they fill memory: a forged one could be as large as the broker allows.

/** A frame that amqplib passes to a channel: the header of a message with its size, or a piece of its content. */
type AmqpFrame = { readonly size?: number; readonly content?: Buffer; readonly fields?: { readonly headers?: unknown } }

/** Part of amqplib's channel, missing in its types: gathers the frames of a message before the consumer is called. */
type FrameReceiver = { acceptMessageFrame?: (frame: AmqpFrame) => void }

/**
 * From now on a message beyond the limit comes without content, as fast as its bytes can be read past. Returns whether a
 * message is such a one. Throws when amqplib is of another make than this was written for.
 */
export function skipLargeMessages(
  channel: object,
  limit_bytes: number,
): (message: { readonly properties: object }) => boolean {
  const gathering = channel as FrameReceiver
  const accept = gathering.acceptMessageFrame?.bind(channel)
  if (!accept) throw new Error('this amqplib does not show the frames of a message')
  const large = new WeakSet<object>()
  let left_out = 0
  gathering.acceptMessageFrame = (frame) => {
    if (left_out > 0 && frame.content) {
      left_out -= frame.content.length
      return
    }
    if (frame.size === undefined || frame.size <= limit_bytes || !frame.fields) return accept(frame)
    left_out = frame.size
    large.add(frame.fields)
    accept({ ...frame, size: 0 })
  }
  return ({ properties }) => large.has(properties)
}
