// Good requests that enrol and remove contributors.
import type { OperationFixture } from './operation-fixture.ts'

export const contributorSamples = {
  // Each tenant has contributors of its own under the same names.
  'consensus.contributor.set': () => ({
    input: { name: 'sample', signer_keys: ['sample-1'], spoken_for_by: ['ada'] },
    isTenants: false,
  }),
  'consensus.contributor.remove': async ({ site, admin: token }: OperationFixture) => {
    const path = '/api/v2/consensus/contributor/leaver'
    await site.request('consensus', { method: 'PUT', path, token, body: { signer_keys: ['leaver-1'] } })
    return { input: { name: 'leaver' }, isTenants: false }
  },
}
