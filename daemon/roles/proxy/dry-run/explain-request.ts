// Explains what each step would do with a request and why, by the same list of steps as the serving threads.
import type { ProxyConfig } from '../config.ts'
import { lookUpReason } from '../reasons.ts'
import type { RequestDecision, RequestHead, RequestStepName } from '../request/request-decision.ts'
import { decideRequest } from '../serving/decide-request.ts'
import { type HeadStep, headSteps, selectServingSteps } from '../serving/request-steps.ts'

/** `passes` and `stops` are certain. `depends`: only a running proxy knows; `says` names the condition. */
export type StepExplanation = {
  readonly step: RequestStepName
  readonly outcome: 'passes' | 'stops' | 'depends'
  readonly says: string
}

/** `status`: the status of the proxy's own response; undefined where the request is forwarded and the upstream decides. */
export type RequestExplanation = {
  readonly decision: RequestDecision
  readonly status: number | undefined
  readonly steps: readonly StepExplanation[]
}

/** The steps in their order, up to the one that ends the request. */
export function explainRequest(head: RequestHead, config: ProxyConfig): RequestExplanation {
  const decision = decideRequest(head, config)
  const last = headSteps.findIndex(({ name }) => name === decision.step)
  const steps = headSteps.slice(0, last + 1).map((step) => explainHeadStep(step, decision, head, config))
  for (const { name, describe } of selectServingSteps(decision)) {
    for (const says of describe(decision, head, config)) steps.push({ step: name, outcome: 'depends', says })
  }
  return { decision, status: findStatus(decision), steps }
}

function findStatus({ next, reason }: RequestDecision): number | undefined {
  if (next === 'preflight') return lookUpReason('preflight').status ?? undefined
  return reason === undefined ? undefined : (lookUpReason(reason).status ?? undefined)
}

function explainHeadStep(
  { name, describe }: HeadStep,
  decision: RequestDecision,
  head: RequestHead,
  config: ProxyConfig,
): StepExplanation {
  const { next, step, reason } = decision
  if (name === step && reason !== undefined) {
    const { description: says, status } = lookUpReason(reason)
    return { step, outcome: 'stops', says: `${says} (${reason}): ${status}` }
  }
  if (name === step && next === 'preflight') {
    const says = 'OPTIONS is answered here as a CORS preflight: 204, no token, nothing forwarded'
    return { step, outcome: 'stops', says }
  }
  return { step: name, outcome: 'passes', says: describe(decision, head, config) }
}
