// Shows the certificate that the site shows its peers.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, show } from '../../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys cert show',
  summary: 'the site’s certificate: names, issuer, end, and its key as a strict pin names it',
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys cert show',
  async run(given, terminal) {
    const certificate = await offline.certificate()
    const shown = certificate.show(requireSite(given, terminal))
    show(terminal, given.json, shown, () => fields(terminal, shown))
    return 0
  },
})
