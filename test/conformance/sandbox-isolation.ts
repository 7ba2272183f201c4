// What a sandbox with namespaces must keep besides: nothing of the machine is seen, reached or left behind.
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect } from 'vitest'
import { isolated, plain_limits, readText, type SandboxRequirement, shell } from './sandbox-requirement.ts'

export const sandboxIsolationRequirements: readonly SandboxRequirement[] = [
  isolated('network', 'no network is reached, this machine’s own neither', async ({ sandbox, dir }) => {
    const server = createServer((socket) => socket.end('reached'))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const named = createServer((socket) => socket.end('reached'))
    const name = `sandbox-${randomUUID()}`
    await new Promise<void>((listening) => named.listen(`\0${name}`, listening))
    const { port } = server.address() as { port: number }
    const script = `
use Socket;
socket(my $t, AF_INET, SOCK_STREAM, 0); print connect($t, pack_sockaddr_in(${port}, inet_aton("127.0.0.1"))) ? "tcp" : "";
socket(my $u, AF_UNIX, SOCK_STREAM, 0); print connect($u, pack("Sa*", AF_UNIX, "\\0${name}")) ? "unix" : "";
print "done"`
    fs.writeFileSync(path.join(dir, 'connect.pl'), script)
    const result = await sandbox.run(
      shell('perl "$1"; ls /sys/class/net 2>/dev/null; exit 0', { inputs: { a: path.join(dir, 'connect.pl') } }),
    )
    server.close()
    named.close()
    expect(readText(result)).toBe('done')
  }),

  isolated(
    'files',
    'no file of the machine is seen but those of the system and those that are visible',
    async ({ sandbox, dir }) => {
      const [secret, shown] = [path.join(dir, 'secret'), path.join(dir, 'shown to it')]
      fs.mkdirSync(shown)
      fs.writeFileSync(secret, 'key of the site')
      fs.writeFileSync(path.join(shown, 'data'), 'signatures')
      const script = `cat '${secret}' /etc/shadow /proc/1/environ /proc/1/root${secret} 2>/dev/null; ls -A /root /home /var /etc/ssh 2>/dev/null
cat '${shown}/data'; echo x 2>/dev/null >'${shown}/data'; touch '${shown}/new' /usr/new /bin/new /new /etc/new 2>/dev/null
ls -A / | tr '\\n' ' '`
      const text = readText(await sandbox.run(shell(script, { visible: [shown] })))
      const [, top] = dir.split('/')
      expect(text).toMatch(new RegExp(`^signatures(bin |dev |etc |lib\\w* |proc |sbin |tmp |usr |${top} )+$`))
      expect(fs.readFileSync(path.join(shown, 'data'), 'utf8')).toBe('signatures')
      expect(fs.readdirSync(shown)).toEqual(['data'])
    },
  ),

  isolated('program', 'the program is seen wherever it is, and cannot be changed', async ({ sandbox, dir }) => {
    const program = path.join(dir, 'my scanner')
    const text = '#!/bin/sh\necho more >>"$0" && exit 9\necho ran\n'
    fs.writeFileSync(program, text, { mode: 0o755 })
    expect(readText(await sandbox.run({ ...shell(''), program, args: [] }))).toBe('ran\n')
    expect(fs.readFileSync(program, 'utf8')).toBe(text)
  }),

  isolated('disk-sum', 'all files together stay within the limit', async ({ sandbox }) => {
    const script =
      'for n in 1 2 3 4 5 6; do head -c 2000000 /dev/zero >"$HOME/$n" 2>/dev/null; done; cat "$HOME"/* | wc -c'
    expect(Number(readText(await sandbox.run(shell(script))))).toBeLessThanOrEqual(plain_limits.disk_bytes)
  }),

  isolated('signals', 'no process but its own is seen or signalled', async ({ sandbox }) => {
    const script = `for pid in ${process.pid} ${process.ppid} 1; do kill -9 $pid 2>/dev/null; done; ls /proc | grep -c '^[0-9]'`
    expect(Number(readText(await sandbox.run(shell(script))).trim())).toBeLessThanOrEqual(6)
    expect(readText(await sandbox.run(shell('kill -9 -1; echo alone')))).toBe('alone\n')
  }),

  isolated('privileges', 'it has no privilege, and gets none by another namespace', async ({ sandbox }) => {
    const script = `grep -E '^Cap(Prm|Eff|Bnd):' /proc/self/status | tr -d '0\\n\\t '
for try in 'mount -t tmpfs x /tmp' 'unshare --user true' 'mknod /tmp/d b 8 0' 'chroot / true' 'umount /proc' 'mount -o remount,rw /usr' 'hostname x' 'nsenter -t 1 -m true'
do $try >/dev/null 2>&1 && echo "allowed: $try"; done; exit 0`
    expect(readText(await sandbox.run(shell(script)))).toBe('CapPrm:CapEff:CapBnd:')
  }),

  isolated('terminal', 'it has no terminal to type into', async ({ sandbox }) => {
    expect(readText(await sandbox.run(shell('(echo x >/dev/tty) 2>/dev/null && echo typed; exit 0')))).toBe('')
  }),
]
