// Checks that no contributor of the site has the name of a peer's tenant, under which the peer contributes.
import { peerFiles } from '../../../../adapters/peers/files/peer-files.ts'
import { findNamesakes } from '../../peers/namesakes.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportProblem } from '../finding.ts'

export async function checkContributors({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const namesakes = await findNamesakes(folder, env, await peerFiles(folder.peers).list())
  return namesakes.map(({ peer, contributor, remedy }) =>
    reportProblem(
      'contributors.name_of_peer',
      `the contributor ${contributor} has the name of the tenant of ${peer}, and may not contribute where that peer is invited`,
      remedy,
    ),
  )
}
