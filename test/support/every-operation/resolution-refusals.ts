// How the declared refusals of the resolution role are brought about that the walk does not show.
import type { Heard } from '../http-exchange.ts'
import { sampleLens } from './resolution-objects.ts'
import type { Stage } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>

function post({ site, admin }: Stage, path: string, body: unknown, token = admin): Promise<Heard> {
  return site.ask('resolution', { method: 'POST', path: `/api/v2${path}`, token, body })
}

const secret = 'SECRET'
const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

export const resolutionRefusals: Record<string, Refusal> = {
  async 'resolution.lens.create already_exists'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.0.0') })
    return post(stage, '/lens', { body: { ...sampleLens('7.0.0'), id_field: 'another' } })
  },
  async 'resolution.lens.create label_denied'(stage) {
    return post(stage, '/lens', { body: sampleLens('7.1.0'), classification: secret }, await uncleared(stage))
  },
  async 'resolution.lens.create not_found'(stage) {
    await post(stage, '/lens', { body: sampleLens('7.2.0'), classification: secret })
    return post(stage, '/lens', { body: sampleLens('7.2.0') }, await uncleared(stage))
  },
}
