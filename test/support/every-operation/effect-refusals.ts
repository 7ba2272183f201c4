// Scenarios for declared refusals of effects that the walk does not cover.
import { callTool } from '../mcp/mcp-client.ts'
import { createEffect, dispatchInput, effectInput } from './effect-samples.ts'
import { refuseTool, refuseToolInput, refuseToolOfTenant } from './ingest-refusals.ts'
import { type OperationFixture, secretClassification } from './operation-fixture.ts'
import type { RefusalScenario } from './session-requests.ts'

const path = '/userspace/effect'
const unknownEffect = 'ef_00000000000000000000000000000000'

/** An effect of which no operators were ever accepted. */
const createRefused = async (stage: OperationFixture) =>
  await createEffect(stage, { operators: [{ name: 'ingest_nothing', params: {} }] })

const send = (
  { site, admin: token }: OperationFixture,
  method: 'POST' | 'PATCH' | 'DELETE',
  rest: string,
  body?: unknown,
) => site.request('ingest', { method, path: `${path}/${rest}`, token, body })

export const effectRefusals: Readonly<Record<string, RefusalScenario>> = {
  'ingest.effect.create label_denied': async ({ site }) =>
    site.request('ingest', {
      method: 'POST',
      path,
      token: await site.token({ roles: ['admin'] }),
      body: effectInput(),
    }),
  async 'ingest.effect.update label_denied'(stage) {
    return send(stage, 'PATCH', await createEffect(stage), {
      visibility: { ...secretClassification, level: 'RESTRICTED' },
    })
  },
  async 'ingest.effect.update wrong_state'(stage) {
    return send(stage, 'PATCH', await createRefused(stage), { action: 'pause' })
  },
  async 'ingest.effect.remove wrong_state'(stage) {
    const uid = await createEffect(stage)
    await send(stage, 'PATCH', uid, { action: 'pause' })
    await send(stage, 'POST', `${uid}/run`, {})
    return send(stage, 'DELETE', `${uid}?confirm=true`)
  },
  async 'ingest.effect.run wrong_state'(stage) {
    return send(stage, 'POST', `${await createRefused(stage)}/run`, {})
  },
  'ingest.effect.pause not_found': (stage) => refuseTool(stage, 'effect_pause', unknownEffect),
  'ingest.effect.unpause not_found': (stage) => refuseTool(stage, 'effect_unpause', unknownEffect),
  'ingest.effect.pause not_your_tenant': async (stage) =>
    refuseToolOfTenant(stage, 'effect_pause', await createEffect(stage)),
  'ingest.effect.unpause not_your_tenant': async (stage) =>
    refuseToolOfTenant(stage, 'effect_unpause', await createEffect(stage)),
  'ingest.effect.pause wrong_state': async (stage) => refuseTool(stage, 'effect_pause', await createRefused(stage)),
  'ingest.effect.unpause wrong_state': async (stage) => refuseTool(stage, 'effect_unpause', await createRefused(stage)),
  async 'ingest.effect.dispatch already_exists'(stage) {
    const input = dispatchInput()
    await callTool(stage.site.port('ingest'), 'effect_dispatch', input, { token: stage.admin })
    return refuseToolInput(stage, 'effect_dispatch', { ...input, edition_id: 'ed_2' })
  },
  'ingest.effect.dispatch label_denied': async (stage) =>
    refuseToolInput(stage, 'effect_dispatch', dispatchInput(), await stage.site.token({ roles: ['admin'] })),
  'ingest.effect.operator not_found': ({ site, admin: token }) =>
    site.request('ingest', { method: 'GET', path: `${path}/schema/ingest_nothing`, token }),
  'ingest.effect.schema not_found': (stage) =>
    refuseToolInput(stage, 'effect_schema', { operator_name: 'ingest_nothing' }),
}
