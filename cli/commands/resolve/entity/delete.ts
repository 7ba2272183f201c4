// Deletes an entity; on request its records are forgotten.
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { formatEntity } from '../../../format/entity.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve entity delete',
  summary: 'Delete an entity; its records belong to no entity from then on',
  notes: [
    'Lookups no longer find it, and runs leave its records out. A record comes back, into another entity, when it arrives',
    'with other values (`platform resolve add`). With --forget the values of its records are erased, as',
    '`platform resolve record forget` does, and none of them comes back. An entity has at most 1,000 records here.',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: {
    reason: required(text('TEXT', 'Reason, kept with the entity and in the audit log')),
    forget: flag('Also forget its records'),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform resolve entity delete ent_… --reason "test data" --yes',
  async run(params, terminal) {
    const { entity: uid, reason, forget } = params
    const effect = forget ? 'The values of its records cannot be restored.' : 'Its records stay out of matching.'
    await requireConsent(terminal, params.yes, `Delete ${uid}? ${effect}`)
    const api = await connectService(params, terminal)
    const entity = await api.call('resolution.entity-cluster.remove', { uid, reason, forget })
    printResult(terminal, params.json, entity, () => formatEntity(terminal, entity))
    return 0
  },
})
