// Declares the consensus role: its collections, operations, workers and messages.
import { type Role, role } from '../../kernel/role/role.ts'
import type { DeploymentProfile } from '../../kernel/role/site.ts'
import { combinationMethod } from '../../shared/quorum-policy/quorum-policy.ts'
import * as contributionList from './contribution/list.ts'
import * as contributorList from './contributor/list.ts'
import { contributors } from './contributor/model.ts'
import { remove } from './contributor/remove.ts'
import { set } from './contributor/set.ts'
import { bySession } from './dissent/by-session.ts'
import { explain } from './dissent/explain.ts'
import * as dissentGet from './dissent/get.ts'
import * as dissentList from './dissent/list.ts'
import * as emissionGet from './emission/get.ts'
import * as emissionList from './emission/list.ts'
import { emissions } from './emission/model.ts'
import * as evidenceGet from './evidence/get.ts'
import { evidenceBlocks } from './evidence/model.ts'
import * as federationContribute from './federation/contribute.ts'
import { emission } from './federation/emission.ts'
import { invite } from './federation/invite.ts'
import { result } from './federation/result.ts'
import { metrics, sessionActive } from './metrics.ts'
import { outline } from './outline.ts'
import { attest } from './session/attest.ts'
import { cancel } from './session/cancel.ts'
import { contribute } from './session/contribute.ts'
import { contributionClaims } from './session/contribution/contribution-claims.ts'
import { contributionPages } from './session/contribution/model.ts'
import { contributionProofs } from './session/contribution/proof/model.ts'
import { create } from './session/create.ts'
import { dissents } from './session/dissent/model.ts'
import { events } from './session/events.ts'
import { get } from './session/get.ts'
import { list } from './session/list.ts'
import { sessionState, sessions } from './session/model.ts'
import { open } from './session/open.ts'
import { resolve } from './session/resolve.ts'
import { deadlines } from './workers/deadlines.ts'
import { relay } from './workers/relay.ts'

const capabilities = [
  'consensus-session',
  'machine-dissent',
  'federation-contribution',
  'spec-28-combiner',
  'spec-29-quorum',
  'spec-30-dissent',
]

export const consensus: Role = role(outline, {
  collections: [
    sessions,
    contributionPages,
    contributionClaims,
    contributionProofs,
    contributors,
    dissents,
    evidenceBlocks,
    emissions,
  ],
  metrics,
  workers: [relay, deadlines],
  operations: {
    session: { create, open, list, get, contribute, resolve, attest, cancel, events },
    contribution: { list: contributionList.list },
    contributor: { list: contributorList.list, set, remove },
    dissent: { list: dissentList.list, get: dissentGet.get, 'by-session': bySession, explain },
    evidence: { get: evidenceGet.get },
    emission: { list: emissionList.list, get: emissionGet.get },
    federation: { contribute: federationContribute.contribute, invite, result, emission },
  },
  messages: { invitation: invite, contribution: federationContribute.contribute, result, lens_emission: emission },
  serviceInfo: ({ deployment_profile, transports }) => ({
    name: 'consensus-service',
    description: 'Multi-contributor consensus sessions with quorum, dissent and evidence',
    health_path: '/health',
    api_path: '/api/v2',
    capabilities,
    deployment_profile,
    supported_combination_methods: [...combinationMethod.options],
    supported_transports: [...transports],
  }),
  refusesToStart: ({ deployment_profile, settings: resolved }) =>
    startRefusal(deployment_profile, resolved.values.get('consensus')?.matching_pattern),
  async gauges(call) {
    const counted = await call.store(sessions).countBy('state')
    for (const state of sessionState.options) call.set(sessionActive, { state }, counted.get(state) ?? 0)
  },
})

function startRefusal(profile: DeploymentProfile, pattern: unknown): string | undefined {
  if (profile !== 'customer_onprem' || pattern !== 'lookup_only') return undefined
  return 'consensus requires the full-lens profile: with customer_onprem and matching_pattern lookup_only it runs only at the central matching node'
}
