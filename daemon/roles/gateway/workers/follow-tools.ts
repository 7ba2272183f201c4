// Follows the tools and resources of every service that has accepted ones, for as long as the role runs.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { findEndpoint, type RegisteredEndpoint } from '../service-tool/find-endpoint.ts'
import { type StoredApproval, toolApprovals } from '../service-tool/model.ts'
import { accepted_tools_topic, serviceToolsPart } from '../service-tool/parts.ts'
import { ServiceFollowing } from '../service-tool/service-following.ts'

/** Another process may have accepted tools, and registrations end. */
const look_ms = 1_000

export const followTools: Worker = { name: 'follow-tools', when: { every_ms: look_ms }, run }

/** By name of the service. */
type Followings = Map<string, ServiceFollowing>

async function run(call: Call): Promise<void> {
  const followings: Followings = new Map()
  try {
    for await (const _ of call.changes(accepted_tools_topic, call.signal, look_ms))
      await keepFollowing(call, followings)
  } finally {
    await Promise.all([...followings.values()].map((following) => following.end()))
  }
}

async function keepFollowing(call: Call, followings: Followings): Promise<void> {
  const wanted = await findWanted(call)
  for (const [service, following] of followings) {
    const want = wanted.get(service)
    if (want && !following.isOver && following.suits(want.endpoint, want.approval)) continue
    followings.delete(service)
    await following.end()
  }
  for (const [service, { endpoint, approval }] of wanted) {
    const following = followings.get(service)
    followings.set(service, await (following?.replace(approval) ?? new ServiceFollowing(call, endpoint, approval)))
  }
}

type WantedFollowing = { readonly endpoint: RegisteredEndpoint; readonly approval: StoredApproval }

/** A service at another URL, or of another registrant, is not the one that was approved. A role of the site has its own tools. */
async function findWanted(call: Call): Promise<ReadonlyMap<string, WantedFollowing>> {
  const wanted = new Map<string, WantedFollowing>()
  const { own } = call.part(serviceToolsPart)
  for await (const { value: approval } of iterateDocuments(call.store(toolApprovals), { fresh: true })) {
    if (own.has(approval.service)) continue
    const endpoint = await findEndpoint(call, approval.service)
    if (endpoint?.origin === approval.url && endpoint.registered_by === approval.registered_by)
      wanted.set(approval.service, { endpoint, approval })
  }
  return wanted
}
