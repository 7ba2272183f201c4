// The configurations of Prometheus that the documentation prints, with the lines that it leaves to the reader.
import { parse } from 'yaml'
import * as z from 'zod'
import { readDocument } from './read-document.ts'

export const scrapeDocument = 'docs/prometheus-scrape.yaml'
export const observabilityDocument = 'docs/observability.md'

const job = z.looseObject({
  job_name: z.string(),
  authorization: z.strictObject({ credentials_file: z.string() }),
  tls_config: z.strictObject({ ca_file: z.string(), cert_file: z.string(), key_file: z.string() }).optional(),
  static_configs: z.array(
    z.strictObject({
      targets: z.tuple([z.string()]),
      labels: z.strictObject({ role: z.string() }),
    }),
  ),
})
const configuration = z.looseObject({ scrape_configs: z.tuple([job]) })
export type ScrapeConfiguration = z.infer<typeof configuration>
export type ScrapeJob = z.infer<typeof job>

/** The shipped file, with its targets in comments too. */
export function readScrapeConfiguration(): ScrapeConfiguration {
  const text = readDocument(scrapeDocument).replaceAll(/^( *)# (- targets: | {2}labels: )/gm, '$1$2')
  return configuration.parse(parse(text))
}

/** The example for TLS and certificates of clients. */
export function readTlsConfiguration(): ScrapeConfiguration {
  return configuration.parse(parse(readYamlExample('tls_config:')))
}

/** The first block of the page that contains the word. */
function readYamlExample(word: string): string {
  const blocks = [...readDocument(observabilityDocument).matchAll(/```yaml\n([\s\S]*?)```/g)]
  return blocks.map(([, block = '']) => block).find((block) => block.includes(word)) ?? ''
}

const holderTable = z.object({
  x509: z.strictObject({ ca_file: z.string(), subjects: z.array(z.looseObject({ subject: z.string() })) }),
})

/** The section of the profile that names the holder of Prometheus's certificate. */
export function readCertificateHolders(): z.infer<typeof holderTable>['x509'] {
  return holderTable.parse(parse(readYamlExample('subjects:'))).x509
}

/** Each role's address of metrics in the table of the documentation. */
export function readMetricsAddresses(): { role: string; inOpenProfiles: string; inClosedProfiles: string }[] {
  const rows = readDocument(observabilityDocument).matchAll(/^\| (\w+) \| ([\d.:]+) \| ([\d.:]+) \|$/gm)
  return [...rows].map(([, role = '', inOpenProfiles = '', inClosedProfiles = '']) => ({
    role,
    inOpenProfiles,
    inClosedProfiles,
  }))
}

/** The command that hands the metrics of a local socket to the node exporter, as a shell reads it. */
export function readNodeExporterCommand(): string {
  const [, command = ''] =
    /^ {4}\$ (curl -sf --unix-socket[\s\S]*?)\n\n/m.exec(readDocument(observabilityDocument)) ?? []
  return command.replaceAll(/\\\n */g, '')
}
