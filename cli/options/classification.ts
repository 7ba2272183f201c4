// The options of a confidentiality label: level, categories and releasability.
import { existsSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { nameList, text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const classificationOptions = {
  classification: text('LEVEL', 'Level of the site’s labelling policy (default: the policy’s default level)'),
  categories: nameList('A,B', 'Categories that a reader must hold'),
  releasableTo: nameList('A,B', 'Tenants or nationalities that may see it (default: the originator only)'),
}

type ClassificationInput = {
  readonly classification: string | undefined
  readonly categories: readonly string[]
  readonly releasableTo: readonly string[]
  readonly site: string | undefined
}

/** A bare level if neither categories nor releasability were given; the site's default level if no option was given. */
export async function resolveClassification(params: ClassificationInput, terminal: Terminal) {
  const level = params.classification ?? (await readDefaultLevel(params, terminal))
  if (params.categories.length === 0 && params.releasableTo.length === 0) return level
  return {
    level,
    ...(params.categories.length ? { categories: [...params.categories] } : {}),
    ...(params.releasableTo.length ? { releasable_to: [...params.releasableTo] } : {}),
  }
}

/** Undefined if no option was given: the service then chooses the label. */
export async function resolveOptionalClassification(params: ClassificationInput, terminal: Terminal) {
  const hasOptions =
    params.classification !== undefined || params.categories.length > 0 || params.releasableTo.length > 0
  return hasOptions ? await resolveClassification(params, terminal) : undefined
}

/** Reads the default level from the site on this machine. */
async function readDefaultLevel({ site }: ClassificationInput, { env }: Terminal): Promise<string> {
  const folder = offline.findSite(site, env)
  if (!folder || !existsSync(folder.profile))
    throw new CommandFailure(2, 'without a local site the default level is unknown: pass --classification')
  const { readSiteSettings } = await offline.profile()
  return readSiteSettings(folder, env).labels.default_level
}
