// The shell scripts that prepare a sandbox from inside, before the command runs in it.
//
// All get their values as arguments, and no value is ever read as text of the script. What goes wrong is printed on
// descriptor 2; descriptor 3 is the standard error of the command; the inputs follow from descriptor 4 on. Tools of
// util-linux do the work, because a program without native code of its own has no other way to these calls of the kernel.

/** The line on descriptor 2 once nothing can go wrong any more but the command itself. */
export const started_line = 'started'

/** Arguments: a file of a control group, and the program with its arguments that goes on inside the group. */
export const group_script = 'echo $$ >"$0" && exec "$@"'

/** The last step of every setup, with all limits in force. Arguments: the command, which takes the place of the shell. */
export const start_script = `
if ! [ -x "$1" ]; then
  echo "$1: EACCES for the user that the command becomes, or a link to a path that is not visible" >&2
  exit 126
fi
echo ${started_line} >&2
exec 2>&3 3>&-
exec "$@"
`

/**
 * Runs as the first process of new namespaces, with the rights of root there and nowhere else.
 * Arguments: mount point, bytes and files of the writable folder, number of inputs, their names, number of visible
 * paths, these paths, and the command. The command runs beside this process, which ends with the command's exit code:
 * the first process of a namespace would not die of its own signals, and all others end with it.
 */
export const namespaces_script = `
set -eu
umask 022
root=$1 bytes=$2 files=$3
shift 3
mount -t tmpfs -o mode=0755,nosuid,nodev,size=1m,nr_inodes=4096 sandbox "$root"
cd "$root"
mkdir usr etc proc dev tmp .old
mount -t tmpfs -o mode=0700,nosuid,nodev,size="$bytes",nr_inodes="$files" sandbox tmp

fd=4 count=$1
shift
while [ "$count" -gt 0 ]; do
  eval "cat <&$fd >\\"tmp/\\$1\\"; exec $fd<&-"
  fd=$((fd + 1)) count=$((count - 1))
  shift
done

# A path that is absent would be created, and inside a folder that is shown already this is the machine's own.
show() {
  if ! [ -e "$1" ]; then
    echo "$1: ENOENT, it cannot be shown" >&2
    exit 1
  elif [ -d "$1" ]; then
    mkdir -p ".$1"
  else
    mkdir -p ".\${1%/*}"
    [ -e ".$1" ] || : >".$1"
  fi
  mount --rbind "$1" ".$1"
}
show /usr
for path in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$path" ]; then ln -s "$(readlink "$path")" ".$path"; elif [ -d "$path" ]; then show "$path"; fi
done
for path in /etc/alternatives /etc/ld.so.cache /etc/nsswitch.conf /etc/passwd /etc/group /etc/localtime; do
  [ ! -e "$path" ] || show "$path"
done
for path in /dev/null /dev/zero /dev/full /dev/random /dev/urandom; do show "$path"; done
count=$1
shift
while [ "$count" -gt 0 ]; do
  show "$1"
  count=$((count - 1))
  shift
done

# A path may bring mounts along, each with flags of its own, of which a namespace may drop none.
cat /proc/self/mountinfo >tmp/.mounts
while read -r _ _ _ _ point _; do
  point=$(printf %b "$point")
  case $point in
    "$root" | "$root/tmp" | "$root"/dev/*) ;;
    "$root"/*)
      mount -o remount,bind,ro,nosuid,nodev "$point" 2>/dev/null ||
        mount -o remount,bind,ro,nosuid,nodev,noexec "$point"
      ;;
  esac
done <tmp/.mounts
rm tmp/.mounts

# What a kernel may refuse: no further namespaces inside, no shared memory that outlives its processes, first to go when
# memory ends, processes to list. The probe at the start looks at what has come of it.
for path in user/max_user_namespaces kernel/shmmni kernel/msgmni; do
  (echo 0 >"/proc/sys/$path") 2>/dev/null || :
done
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
# Read-only, since some of these files ask for the user and not for a privilege.
mount -t proc -o ro,nosuid,nodev,noexec proc proc 2>/dev/null || :

pivot_root . .old
cd /
umount -l /.old
rmdir /.old
mount -o remount,bind,ro,nosuid,nodev /
cd /tmp
set +e
setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"
exit $?
`

/** Arguments: the command, which takes the place of the shell in the folder where it is started. */
export const limits_script = `
set -eu
umask 077
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
exec "$@"
`
