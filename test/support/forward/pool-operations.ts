// Random histories of a pool: requests, answers, failures, time and membership.
import fc from 'fast-check'
import type { UpstreamFailure } from '../../../daemon/kernel/forward/upstream.ts'

export const memberPorts = [1, 2, 3, 4]

/** `pick`: which of the attempts that are open. */
export type PoolOperation =
  | { readonly kind: 'send'; readonly method: string; readonly isStreamed: boolean }
  | { readonly kind: 'answer'; readonly pick: number; readonly status: number }
  | { readonly kind: 'fail'; readonly pick: number; readonly failure: UpstreamFailure }
  | { readonly kind: 'end' | 'body' | 'body_end' | 'abort'; readonly pick: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'replace'; readonly members: readonly number[] }

const pick = fc.nat(20)
const failures: readonly UpstreamFailure[] = ['address', 'connect', 'busy', 'timeout', 'closed', 'protocol', 'request']
export const poolOperations: fc.Arbitrary<readonly PoolOperation[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('send' as const),
        method: fc.constantFrom('GET', 'PUT', 'POST'),
        isStreamed: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('answer' as const), pick, status: fc.constantFrom(200, 404, 500, 503) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('fail' as const), pick, failure: fc.constantFrom(...failures) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('end', 'body', 'body_end', 'abort'), pick }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(100, 1_000, 2_000) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('replace' as const),
        members: fc.array(fc.constantFrom(...memberPorts)),
      }),
    },
  ),
  { minLength: 20, maxLength: 120, size: 'max' },
) as fc.Arbitrary<readonly PoolOperation[]>
