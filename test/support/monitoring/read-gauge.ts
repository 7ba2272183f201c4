// Reads one value of the metrics that a role serves on its local socket.
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { sendExactRequest } from '../http/send-exact-request.ts'
import type { TestSite } from '../site/test-site.ts'

/** The sum of the series with these labels; undefined where there are none. */
export async function readGauge(
  site: TestSite,
  role: string,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const { text } = await sendExactRequest({
    ...{ port: 0, socket: roleSocketFile(site.folder, role), method: 'GET', path: '/metrics' },
    token: await site.token({ roles: ['auditor'] }),
  })
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
    .filter(([, listed = '']) => wanted.every((pair) => listed.split(',').includes(pair)))
    .map(([, , value]) => Number(value))
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
}
