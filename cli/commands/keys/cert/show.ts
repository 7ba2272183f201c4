// Shows the certificate that the site presents to its peers.
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert show',
  summary: 'Show the site’s certificate: names, issuer, expiry, key pin',
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys cert show',
  async run(given, terminal) {
    const certificate = await offline.certificate()
    const shown = certificate.showSiteCertificate(requireSite(given, terminal))
    printResult(terminal, given.json, shown, () => formatFields(terminal, shown))
    return 0
  },
})
