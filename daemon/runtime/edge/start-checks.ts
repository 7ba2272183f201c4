// Conditions of the edge's settings under which the process must not start.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/edge/settings.ts'

export function findEdgeStartProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { backend_ca_file } = getSettings(resolved, settings)
  return backend_ca_file === undefined ? [] : findAuthorityProblems(backend_ca_file)
}

function findAuthorityProblems(file: string): ProfileProblem[] {
  try {
    new X509Certificate(readFileSync(file))
    return []
  } catch {
    return [{ path: 'edge.backend_ca_file', message: `${file} has no readable certificate (PEM)` }]
  }
}
