// Builds the body of a dissent in one go, as the site does in slices.
import { runToEnd } from '../../../daemon/kernel/role/run-to-end.ts'
import type { DecisionPolicy } from '../../../daemon/roles/consensus/combine/decide.ts'
import {
  analyseConflict,
  type DissentBody,
  type DissentCause,
  describeConflict,
} from '../../../daemon/roles/consensus/combine/dissent.ts'
import { compareCanonicallyThenById, type Opinion } from '../../../daemon/roles/consensus/combine/opinion.ts'

export function buildDissent(policy: DecisionPolicy, opinions: readonly Opinion[], cause: DissentCause): DissentBody {
  const described = describeConflict(policy, opinions.toSorted(compareCanonicallyThenById), cause)
  return { ...described, ...runToEnd(analyseConflict(policy, described)) }
}
