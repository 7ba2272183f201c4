// The most expensive bodies that a peer can sign: the largest honest ones, and those made to be expensive.
import { bodyLimits } from '../../../daemon/kernel/messaging/body-limits.ts'
import { max_piece_values } from '../../../daemon/roles/resolution/exchange/piece/cut-pieces.ts'
import type { HardCase } from './hard-cases.ts'
import type { OperationFixture } from './operation-fixture.ts'

const piece = {
  say: 'piece',
  exchange_id: `xchg_${'0'.repeat(32)}`,
  agreement_digest: '0'.repeat(64),
  ...{ round: 'records', number: 0, of: 1, items: 100_000 },
}
/** Below 4 MiB with all that is around it. */
const body_bytes = 4_000_000
const { max_values, max_names } = bodyLimits

const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'rows of a full piece': { ...piece, rows: Array(Math.floor(max_piece_values / 3)).fill(['1', '']) },
  'data of a full piece': { ...piece, round: 'tags', data: 'A'.repeat(2_097_152) },
  'a body of 900,000 numbers': { ...piece, rows: Array(900_000).fill(1) },
  'a body of 400,000 names': Object.fromEntries(Array.from({ length: 400_000 }, (_, at) => [`n${at}`, 1])),
  'as many objects as allowed, of as many names': {
    rows: Array.from({ length: max_values / 2 - 100 }, (_, at) => ({ [`n${at % (max_names - 100)}`]: 1 })),
  },
  'a text of two million escapes': { ...piece, data: '\n'.repeat(body_bytes / 2) },
}

/** Messages of the peer bravo to an operation that takes any of its bodies as far as the schema. */
export async function buildPeerCases({ signMessage }: OperationFixture): Promise<readonly HardCase[]> {
  return await Promise.all(
    Object.entries(bodies).map(async ([name, data]) => ({
      ...{ name, address: 'resolution.exchange.receive' },
      inputs: [await signMessage('resolution', data)],
    })),
  )
}
