/**
 * Loaded into wrangler: it ends wrangler when the push that started it is gone. A push that is killed must not leave an upload
 * that lands behind the one of the next push.
 */

const parent = process.ppid

/** Time in milliseconds between two looks at the parent. The system closes the channel shortly before the parent is gone. */
const intervalMs = 50

// wrangler closes the channel itself at its end, so that the parent's absence decides
process.once('disconnect', () => setInterval(endWithoutParent, intervalMs).unref())
process.channel?.unref() // a listener would keep wrangler alive when its work is done

function endWithoutParent(): void {
  if (process.ppid !== parent) process.exit(1)
  try {
    process.kill(parent, 0) // on Windows, which keeps the number of a parent that is gone
  } catch {
    process.exit(1)
  }
}
