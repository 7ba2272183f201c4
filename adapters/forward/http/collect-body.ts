// Collects a streamed request body, for handlers that need it whole.
import type { BodyResult, Exchange } from '../../../daemon/kernel/forward/exchange.ts'

export function collectBody(
  exchange: Pick<Exchange, 'streamBody'>,
  max_bytes: number,
  done: (body: BodyResult) => void,
): void {
  const pieces: Buffer[] = []
  exchange.streamBody(max_bytes, {
    data: (piece) => pieces.push(piece) > 0,
    end: () => done(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)),
    fail: done,
  })
}
