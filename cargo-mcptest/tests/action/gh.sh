#!/usr/bin/env bash
# What the action and the workflows need of `gh`: comments are files in `$GH_STORE`, `<id>.md` with the author in
# `<id>.author`; issues are in `issues/`, labels in `labels/`, statuses are lines.
set -euo pipefail
refuse() {
  echo "gh: Resource not accessible by integration (HTTP 403)" >&2
  exit 1
}
[ "${GH_FAILS:-}" != all ] || refuse
if [ "$1" = release ]; then
  [ -n "${GH_RELEASE:-}" ] || { echo "release not found" >&2; exit 1; }
  echo "$*" > "$GH_STORE/release.txt"
  while [ $# -gt 0 ]; do
    case "$1" in
      --pattern) name="$2"; shift 2 ;;
      --dir) folder="$2"; shift 2 ;;
      *) shift ;;
    esac
  done
  cp "$GH_RELEASE" "$folder/$name"
  exit 0
fi
[ "$1" = api ] && shift
method=GET; path=""; body=""; query=""; fields=""
while [ $# -gt 0 ]; do
  case "$1" in
    --paginate | --silent) shift ;;
    --method) method="$2"; shift 2 ;;
    --jq) query="$2"; shift 2 ;;
    --field) body="${2#body=@}"; shift 2 ;;
    --raw-field) fields="$fields $2"; shift 2 ;;
    *) path="$1"; shift ;;
  esac
done
# Everybody may read the comments of a public repository.
[ "$method" = GET ] || [ "${GH_FAILS:-}" != writing ] || refuse
echo "$method $path" >> "$GH_STORE/asked.txt"
case "$method $path" in
  "GET repos/o/r/issues/7/comments?per_page=100")
    [ "$query" = "$GH_QUERY" ] || { echo "another query: $query" >&2; exit 9; }
    for file in "$GH_STORE"/*.md; do
      [ -e "$file" ] || continue
      line="$(head -n 1 "$file" | tr -d '\r')"
      if [ "$(cat "${file%.md}.author")" = "$AUTHOR" ] && [[ "$line" == "<!-- mcptest: "* ]]; then
        echo "$(basename "$file" .md) $line"
      fi
    done
    ;;
  "POST repos/o/r/issues/7/comments")
    id=$(($(ls "$GH_STORE" | grep -c '\.md$' || true) + 100))
    cp "$body" "$GH_STORE/$id.md"
    printf '%s' "$AUTHOR" > "$GH_STORE/$id.author"
    ;;
  "PATCH repos/o/r/issues/comments/"*)
    file="$GH_STORE/${path##*/}.md"
    [ -e "$file" ] || exit 8
    cp "$body" "$file"
    ;;
  "DELETE repos/o/r/issues/7/labels/record") rm "$GH_STORE/labels/record" ;;
  "POST repos/o/r/statuses/"*) echo "${path##*/}$fields" >> "$GH_STORE/statuses.txt" ;;
  "GET repos/o/r/issues?state=open&creator=github-actions%5Bbot%5D&per_page=100")
    [ "$query" = "$GH_ISSUES_QUERY" ] || { echo "another query: $query" >&2; exit 9; }
    for file in "$GH_STORE"/issues/*.md; do
      if [ -e "$file" ] && [[ "$(head -n 1 "$file")" == "<!-- mcptest: drift -->"* ]]; then
        basename "$file" .md
      fi
    done
    ;;
  "POST repos/o/r/issues")
    [[ "$fields" == " title="?* ]] || exit 6
    mkdir -p "$GH_STORE/issues"
    id=$(($(ls "$GH_STORE/issues" | grep -c '\.md$' || true) + 100))
    cp "$body" "$GH_STORE/issues/$id.md"
    ;;
  "PATCH repos/o/r/issues/"*)
    file="$GH_STORE/issues/${path##*/}.md"
    [ -e "$file" ] || exit 8
    cp "$body" "$file"
    ;;
  *) echo "not asked for: $method $path" >&2; exit 7 ;;
esac
