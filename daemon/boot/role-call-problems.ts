// Checks before a start: the URLs of roles on other machines, and the certificates with which roles reach each other there.
import * as fs from 'node:fs'
import { parseCertificates } from '../../adapters/transport/mtls/material.ts'
import { identifyRole } from '../kernel/identity/role-certificate.ts'
import { listListeners } from '../kernel/role/configured-listener.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../kernel/settings/profile-error.ts'
import { roleCallSettings } from '../kernel/settings/role-call-settings.ts'
import { roleCalls } from '../role-calls.ts'
import { listRoleUrls, type RoleUrl } from '../shared/routing/role-urls.ts'
import { isOverTls } from './host/remote-roles.ts'
import { findUnreadableFile } from './host/unreadable-file.ts'
import { findPairFault } from './listener-certificates.ts'
import type { StartCheckInput } from './start-checks.ts'
import { roleAuthoritiesFile, roleCertificateFile, type SiteFolder } from './storage/site-folder.ts'

/** Of the settings alone. */
export function findRoleCallProblems(input: StartCheckInput): ProfileProblem[] {
  const { resolved, known_roles, starting } = input
  const { urls, ca_file, accept_certificates } = getSettings(resolved, roleCallSettings)
  const known = known_roles.map(({ name }) => name)
  const unknown = Object.keys(urls).filter((name) => !known.includes(name))
  const accepting = starting.filter(
    (role) => !role.has_public_listener && listListeners(role, resolved)[0].tls?.cert_file,
  )
  return [
    ...unknown.map((name) => ({
      path: `role_calls.urls.${name}`,
      message: `the role "${name}" does not exist; known: ${known.join(', ')}`,
    })),
    ...findPlainUrls(input),
    ...(ca_file === undefined ? [] : findUnreadableFile('role_calls.ca_file', ca_file)),
    ...(accept_certificates && starting.length > 0 && accepting.length === 0
      ? [
          {
            path: 'role_calls.accept_certificates',
            message: `no role here has a TLS listener: set tls_cert_file of ${starting[0]?.name}`,
          },
        ]
      : []),
  ]
}

/** Tokens of roles must not cross a network, or reach a server that nothing identifies. */
function findPlainUrls(input: StartCheckInput): ProfileProblem[] {
  const plain = listRemoteCalls(input).filter(({ target }) => !isOverTls(target.url))
  const settings = new Map(plain.map((each) => [each.target.setting, each]))
  return [...settings].map(([path, { requesting, role }]) => ({
    path,
    message: `the role ${requesting} requests operations of ${role} at this URL, which must begin with https://; for a URL that only routes requests of clients, set ingress.backends instead`,
  }))
}

type RemoteCall = { readonly requesting: string; readonly role: string; readonly target: RoleUrl }

/** The roles at URLs that roles of this process request operations of. */
function listRemoteCalls({ resolved, starting }: Pick<StartCheckInput, 'resolved' | 'starting'>): RemoteCall[] {
  const here = new Set(starting.map(({ name }) => name))
  const elsewhere = [...listRoleUrls((block) => getSettings(resolved, block))].filter(([role]) => !here.has(role))
  return [...here].flatMap((requesting) => {
    const addresses = [...(roleCalls.get(requesting) ?? [])]
    const requested = elsewhere.filter(([role]) => addresses.some((address) => address.startsWith(`${role}.`)))
    return requested.map(([role, target]) => ({ requesting, role, target }))
  })
}

/** Of the files in the folder of the site. `now`: epoch milliseconds. */
export function findRoleCertificateProblems(
  folder: SiteFolder,
  input: Pick<StartCheckInput, 'resolved' | 'starting'>,
  now: number,
): ProfileProblem[] {
  const requesting = [...new Set(listRemoteCalls(input).map((each) => each.requesting))]
  if (requesting.length === 0 && !getSettings(input.resolved, roleCallSettings).accept_certificates) return []
  const { name: site } = getSettings(input.resolved, platformSettings)
  const authorities = readCertificates(roleAuthoritiesFile(folder))
  if (authorities.length === 0 || authorities.some(({ ca }) => !ca)) {
    const message = 'lists no authorities of the site; `platform keys cert issue --role ROLE` writes it'
    return [{ path: roleAuthoritiesFile(folder), message }]
  }
  return requesting.flatMap((role) => {
    const file = roleCertificateFile(folder, role)
    const remedy = `\`platform keys cert issue --role ${role}\` makes one`
    const [certificate] = readCertificates(file)
    if (!certificate) return [{ path: file, message: `the role ${role} has no certificate here; ${remedy}` }]
    const found = identifyRole(certificate, 'client', { site, authorities, now })
    // A role whose certificate has ended still serves its clients; its health and the log have the reason.
    const isEnded = 'fault' in found && found.fault === 'not_valid_now'
    const named = 'fault' in found ? found.fault : found.role === role ? undefined : `it is that of ${found.role}`
    const fault = isEnded ? undefined : (named ?? findOwnPairFault(file))
    return fault === undefined
      ? []
      : [{ path: file, message: `is not the certificate of ${role}: ${fault}; ${remedy}` }]
  })
}

function findOwnPairFault(file: string): string | undefined {
  const pem = fs.readFileSync(file, 'utf8')
  return findPairFault({ cert: pem, key: pem })
}

/** None where the file cannot be read. */
function readCertificates(file: string) {
  try {
    return parseCertificates(fs.readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}
