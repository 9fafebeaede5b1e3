/**
 * Applies an asynchronous function to the items of a stream, at most `limit` at a time, and yields the results in the
 * order of the items. Memory is bounded by the limit. The first failure ends it.
 */
export async function* mapOrdered<T, R>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const open: Promise<R>[] = []
  for await (const item of items) {
    const result = work(item)
    // Reported where it is waited for; until then it must not count as unhandled.
    result.catch(() => undefined)
    open.push(result)
    if (open.length >= limit) yield await (open.shift() as Promise<R>)
  }
  for (const result of open) yield await result
}
