// Holds accepted tools that their service lists with another definition, for every process of the gateway.
import type { Call } from '../../../kernel/operation/call.ts'
import { toolHeldTotal } from '../metrics.ts'
import { settle } from '../settle.ts'
import { type AcceptedTool, acceptedTools, toolApprovals } from './model.ts'
import { offeredName } from './offered-name.ts'
import { accepted_tools_topic } from './parts.ts'
import type { ListComparison } from './rules.ts'

/** Of one service. Recorded by the call that sees it first. */
export async function holdTools(call: Call, service: string, changed: ListComparison['changed']): Promise<void> {
  for (const [tool, sha256] of changed) if (await holdTool(call, tool, sha256)) await announceHeld(call, service)
}

/** Whether this call is the first that does. */
async function holdTool(call: Call, { service, name, sha256: accepted }: AcceptedTool, sha256: string) {
  const id = offeredName({ service, name })
  const audit = [call.audited('gateway.tool.held', id, { accepted, listed: sha256 })]
  const held = await settle(
    call
      .store(acceptedTools)
      .update(id, ({ value }) =>
        value.held || value.sha256 !== accepted
          ? { answer: false }
          : { next: { ...value, held: { sha256, seen_ts: call.now() } }, answer: true, audit },
      ),
  )
  if (!held?.answer) return false
  call.count(toolHeldTotal, { service })
  call.log.warn('gateway.tool.held', { trace_id: call.trace.trace_id, tool: id, accepted, listed: sha256 })
  return true
}

/** A service may show another list to each process of the gateway: all of them look at the store again. */
async function announceHeld(call: Call, service: string): Promise<void> {
  const revision = call.random(8)
  const renew = call
    .store(toolApprovals)
    .update(service, ({ value }) => ({ next: { ...value, revision }, answer: undefined }))
  await settle(renew)
  call.announce(accepted_tools_topic)
}
