// The option that names the file of a report, and the name of the service that it is about.
import { offline } from '../../daemon/offline/offline.ts'
import { required, text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { requireSite } from './site-options.ts'

export const reportOption = { out: required(text('FILE', 'File of the page; replaces an earlier report')) }

type ReportSourceOptions = { readonly site: string | undefined; readonly url: string | undefined }

/** The URL, or the name of the site. */
export async function describeSource(params: ReportSourceOptions, terminal: Terminal): Promise<string> {
  if (params.url !== undefined) return params.url
  const profile = await offline.profile()
  return profile.readSiteSettings(requireSite(params, terminal), terminal.env).platform.name
}
