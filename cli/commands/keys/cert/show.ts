// Shows the certificate that the site presents to its peers.
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert show',
  summary: 'Show the site’s certificate: names, issuer, expiry, key pin',
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys cert show',
  async run(params, terminal) {
    const certificates = await offline.certificate()
    const certificate = certificates.showSiteCertificate(requireOwnSite(params, terminal))
    printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
    return 0
  },
})
