// How the declared refusals of the resolution role are brought about that the walk does not show.
import { mkdirSync } from 'node:fs'
import { sha256 } from '../../../daemon/kernel/canonical.ts'
import type { Heard } from '../http-exchange.ts'
import { sampleLens, sampleRun } from './resolution-objects.ts'
import type { Stage } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>

function post({ site, admin }: Stage, path: string, body: unknown, token = admin, key?: string): Promise<Heard> {
  const headers = { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) }
  return site.ask('resolution', { method: 'POST', path: `/api/v2${path}`, token, headers, body: JSON.stringify(body) })
}

const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

/** The id that a request with this key would get. */
function idOf(address: string, key: string): string {
  return `run_${sha256(JSON.stringify(['alpha', 'ada', address, key])).slice(0, 32)}`
}

function opening(address: string, path: string): Record<string, Refusal> {
  return {
    [`${address} not_found`]: (stage) => post(stage, path, sampleRun({ lens_id: 'nobody-made-this' })),
    [`${address} label_denied`]: async (stage) => {
      await post(stage, '/lens', { body: sampleLens('8.0.0') })
      return post(stage, path, sampleRun({ lens_version: '8.0.0' }), await uncleared(stage))
    },
    // Another request under the key is writing its records, or was cut short while it did.
    [`${address} conflict`]: async (stage) => {
      mkdirSync(`${stage.site.folder.data}/resolution/runs/${idOf(address, 'in-the-making')}`, { recursive: true })
      return post(stage, path, sampleRun(), stage.admin, 'in-the-making')
    },
  }
}

async function cancelled(stage: Stage): Promise<string> {
  const { uid } = (await post(stage, '/fusion/extract', sampleRun())).json as { uid: string }
  await stage.site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${uid}`, token: stage.admin })
  return uid
}

export const resolutionRefusals: Record<string, Refusal> = {
  async 'resolution.lens.create already_exists'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.0.0') })
    return post(stage, '/lens', { body: { ...sampleLens('7.0.0'), id_field: 'another' } })
  },
  async 'resolution.lens.create label_denied'(stage) {
    return post(stage, '/lens', { body: sampleLens('7.1.0'), classification: 'SECRET' }, await uncleared(stage))
  },
  async 'resolution.lens.create not_found'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.2.0'), classification: 'SECRET' })
    return post(stage, '/lens', { body: sampleLens('7.2.0') }, await uncleared(stage))
  },
  ...opening('resolution.fusion-run.start', '/fusion/run'),
  ...opening('resolution.fusion.extract', '/fusion/extract'),
  'resolution.fusion.match wrong_state': async (stage) => post(stage, `/fusion/match/${await cancelled(stage)}`, {}),
  'resolution.fusion.resolve wrong_state': async (stage) =>
    post(stage, `/fusion/resolve/${await cancelled(stage)}`, {}),
  async 'resolution.fusion-run.cancel wrong_state'({ site, admin, resolution: { run } }) {
    return site.ask('resolution', { method: 'DELETE', path: `/api/v2/fusion/run/${run}`, token: admin })
  },
}
