# Sourced by the scripts beside it.

# npm_package NAME VERSION: prints the folder of a package from npm, installed once into the user's cache folder. Fails
# where there is neither the package nor npm with its registry.
npm_package() {
    local folder="${XDG_CACHE_HOME:-$HOME/.cache}/josh/npm/$1-$2"
    if [ ! -e "$folder/done" ]; then
        command -v npm >/dev/null || return 1
        mkdir -p "$folder"
        timeout 180 npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-package-lock --silent "$1@$2" \
            >/dev/null 2>&1 || return 1
        touch "$folder/done"
    fi
    echo "$folder/node_modules/$1"
}
