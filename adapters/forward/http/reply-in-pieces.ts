// Sends a whole response in pieces, so that a slow client shows progress.
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'

const piece_bytes = 65_536

export function replyInPieces(exchange: Exchange, status: number, headers: readonly string[], body: Buffer): void {
  exchange.begin(status, headers, body.length)
  let at = 0
  const more = () => {
    while (at + piece_bytes < body.length) {
      const piece = body.subarray(at, at + piece_bytes)
      at += piece_bytes
      if (!exchange.write(piece)) return
    }
    exchange.end(body.subarray(at))
  }
  const { answering } = exchange
  exchange.answering = { drained: more, gone: () => answering?.gone() }
  more()
}
