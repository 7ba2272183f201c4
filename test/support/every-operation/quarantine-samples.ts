// One good request for each operation on an item of the quarantine, which is the site's and of no tenant.
import {
  buildDismissalRequest,
  buildReleaseApproval,
  buildReleaseRequest,
  dismissal_reason,
  quarantineExpiredMessage,
  submitSignature,
} from '../site/release-signers.ts'
import { enrolSigners } from './enrol-signers.ts'
import type { OperationSamples } from './operation-samples.ts'

function buildItemInput({ item }: { readonly item: string }) {
  const [peer, id] = item.split('/')
  return { peer, id }
}

export const quarantineSamples: OperationSamples = {
  'site.quarantine.get': async ({ site: at }) => ({
    input: buildItemInput(await quarantineExpiredMessage(at)),
    isTenants: false,
  }),
  'site.quarantine.request': async (stage) => {
    const lying = await quarantineExpiredMessage(stage.site)
    const { ada } = await enrolSigners(stage)
    return {
      input: { ...buildItemInput(lying), signature: await ada.sign(buildReleaseRequest(lying, 'ada')) },
      isTenants: false,
    }
  },
  'site.quarantine.approve': async (stage) => {
    const lying = await quarantineExpiredMessage(stage.site)
    const { ada, bob } = await enrolSigners(stage)
    const request = buildReleaseRequest(lying, 'bob')
    await submitSignature(stage.site, 'request', lying.item, await bob.sign(request), 'bob')
    return {
      input: { ...buildItemInput(lying), signature: await ada.sign(buildReleaseApproval(request, 'ada')) },
      isTenants: false,
    }
  },
  'site.quarantine.dismiss': async (stage) => {
    const lying = await quarantineExpiredMessage(stage.site)
    const { ada } = await enrolSigners(stage)
    const signature = await ada.sign(buildDismissalRequest(lying, 'ada'))
    return { input: { ...buildItemInput(lying), reason: dismissal_reason, signature }, isTenants: false }
  },
}
