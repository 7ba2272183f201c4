// Conditions of the edge's settings under which the process must not start.
import { readFileSync } from 'node:fs'
import { type HostCertificateFiles, readPair } from '../../boot/follow-certificates.ts'
import { findRoutingProblems } from '../../boot/forwarding/routing-problems.ts'
import { parseCertificatesOrNone } from '../../boot/links/network-files.ts'
import { findPairFault } from '../../boot/listener-certificates.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/edge/settings.ts'
import { roles } from '../../roles.ts'

export function findEdgeStartProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { backend_ca_file, certificates, port, tls_cert_file, https_port } = getSettings(resolved, settings)
  const isPortKnown = port !== 0 || tls_cert_file === undefined || https_port !== undefined
  return [
    ...findRoutingProblems(resolved, roles),
    ...(isPortKnown
      ? []
      : [{ path: 'edge.https_port', message: 'redirects need a port of https where edge.port is 0' }]),
    ...(backend_ca_file === undefined ? [] : findAuthorityProblems(backend_ca_file)),
    ...certificates.flatMap((files, at) => findCertificateProblems(files, `edge.certificates.${at}`)),
  ]
}

function findAuthorityProblems(file: string): ProfileProblem[] {
  const problem = { path: 'edge.backend_ca_file', message: `${file} has no readable certificate (PEM)` }
  try {
    return parseCertificatesOrNone(readFileSync(file, 'utf8')).length > 0 ? [] : [problem]
  } catch {
    return [problem]
  }
}

function findCertificateProblems(files: HostCertificateFiles, path: string): ProfileProblem[] {
  const { cert_file, key_file } = files
  try {
    const fault = findPairFault(readPair(files))
    return fault === undefined ? [] : [{ path, message: `${cert_file} and ${key_file}: ${fault}` }]
  } catch {
    return [{ path, message: `${cert_file} and ${key_file} cannot both be read` }]
  }
}
