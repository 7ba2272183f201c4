// Whether the broker and the hub can be used: files that are there and for the site alone, certificates that last, peers that are pinned.
import { networksOf } from '../../../roles/site/carrier-settings.ts'
import { type NetworkFiles, networkFiles } from '../../network-files.ts'
import { valuesOf } from '../../profile.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem } from '../finding.ts'
import { list } from '../site-peers.ts'
import { siteSettings } from '../site-profile.ts'

export async function networkFindings({ folder, env, now }: Examined): Promise<Finding[]> {
  const { resolved } = siteSettings(folder, env)
  const networks = networksOf((section) => valuesOf(resolved, section))
  const files = networkFiles(resolved, env)
  if (files.length === 0) return []
  const enrolled = (await list(folder)).map(({ name }) => name)
  return files.flatMap((each) => {
    const named = networks.find(({ name }) => name === each.name)?.peers ?? []
    const strange = named.filter((name) => !enrolled.includes(name))
    const found = [
      ...strange.map((name) => problem(each.name, `${name} is no pinned peer`, `platform peers add ${name}`)),
      ...fileFindings(each, now),
    ]
    return found.length > 0 ? found : [fine(each.name, 'files are there, closed to others, and last')]
  })
}

function fileFindings({ name, faults, lasting }: NetworkFiles, now: number): Finding[] {
  return [
    ...faults.map((fault) =>
      problem(name, fault, `put a sound file there, for the site’s user alone, or mend ${name}`),
    ),
    ...lasting.flatMap(({ what, file, ends }) => ending(name, what, ends, now, `put its successor into ${file}`) ?? []),
  ]
}
