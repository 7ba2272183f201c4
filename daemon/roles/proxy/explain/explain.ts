// Says what each step would do with a request and why, by the same judgement that the workers act on.
import type { Config } from '../config.ts'
import { type Judgement, judge, type RequestHead, type Step } from '../request/lifecycle.ts'

/** `passes` and `stops` are certain; `depends` on what only a running proxy knows, which `says` names. */
export type Told = { readonly step: Step; readonly outcome: 'passes' | 'stops' | 'depends'; readonly says: string }

export type Explanation = {
  readonly judgement: Judgement
  readonly status: number | null
  readonly steps: readonly Told[]
}

export function explainRequest(head: RequestHead, config: Config): Explanation {
  return { judgement: judge(head, config), status: null, steps: [] }
}
