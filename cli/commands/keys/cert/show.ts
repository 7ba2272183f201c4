// Shows the certificate that the site presents to its peers, or that a role presents to other roles.
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert show',
  summary: 'Show the site’s certificate: names, issuer, expiry, key pin',
  options: {
    role: text('ROLE', 'Show the certificate of this role (default: that of the site)'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert show',
  async run({ role, ...params }, terminal) {
    const folder = requireOwnSite(params, terminal)
    const certificate =
      role === undefined
        ? (await offline.certificate()).showSiteCertificate(folder)
        : (await offline.roleCertificate()).showRoleCertificate(folder, role)
    printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
    return 0
  },
})
