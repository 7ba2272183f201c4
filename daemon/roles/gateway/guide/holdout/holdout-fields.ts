// Settings of the hold-out.
import * as z from 'zod'

/** Above half, most traces would go without what was learnt. */
const share = (variable: string, value: number, of: string) =>
  z
    .number()
    .min(0)
    .max(0.5)
    .default(value)
    .meta({ env: `GUIDE_HOLDOUT_${variable}`, doc: `Share of ${of} that goes without the artifact; 0: none.` })

export const holdoutFields = {
  holdout_enabled: z.boolean().default(true).meta({
    env: 'GUIDE_HOLDOUT_ENABLED',
    doc: 'Whether a share of traces goes without each artifact, so that its effect is measured and harm is demoted.',
  }),
  holdout_first_share: share('FIRST_SHARE', 0.5, 'the first 64 traces that an artifact is eligible for'),
  holdout_share: share('SHARE', 0.1, 'later traces'),
}
